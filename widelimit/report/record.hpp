#pragma once

#include "widelimit/engine/engine.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// Record of a run, as --json prints it: one object whose keys keep their order.
///
///   {"widelimit": "0.1.0", "verb": …, "settings": {…}, "seed": …, "backend": {"name": …, "description": …},
///    "precision": …, "threads": …, "timings": {…seconds}, "notes": […], "results": {…}}
///
/// backend, precision and threads are left out by a verb that computes nothing, notes where there are none.
struct Record {
  std::string verb;
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, double>> timings;  ///< seconds, in the order they were taken
  std::vector<std::string> notes;                       ///< what a reader of the results should know of the data
  nlohmann::ordered_json results = nlohmann::ordered_json::object();

  explicit Record(std::string the_verb) : verb(std::move(the_verb)) {}

  /// Records the back end and the precision.
  void ran_on(const Engine& engine, Precision precision);

  /// Returns what a page shows of the run, for Page::settings: settings, seed, back end, precision and notes.
  [[nodiscard]] nlohmann::ordered_json page_settings() const;

  /// Error{numerical} names the first number that is not finite by its key, as "results.accuracy[2]": JSON cannot
  /// represent it, and null would hide it.
  [[nodiscard]] nlohmann::ordered_json to_json() const;
  /// Indented text ending in a newline; bytes that are not UTF-8 become U+FFFD.
  [[nodiscard]] std::string to_text() const;

 private:
  struct Machine {
    std::string name;
    std::string description;
    Precision precision = Precision::f64;
    int threads = 0;
  };
  std::optional<Machine> machine_;
};

}  // namespace widelimit
