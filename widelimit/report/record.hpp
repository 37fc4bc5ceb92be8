#pragma once

#include "widelimit/engine/engine.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// Record of a run, as printed by --json: one object with keys in fixed order.
///
///   {"widelimit": "0.1.0", "verb": …, "settings": {…}, "seed": …, "backend": {"name": …, "description": …},
///    "precision": …, "threads": …, "timings": {…seconds}, "notes": […], "results": {…}}
///
/// Commands that compute nothing omit backend, precision and threads; notes are omitted if there are none.
struct Record {
  std::string verb;
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, double>> timings;  ///< seconds, in order of measurement
  std::vector<std::string> notes;                       ///< remarks on the data for readers of the results
  nlohmann::ordered_json results = nlohmann::ordered_json::object();

  explicit Record(std::string the_verb) : verb(std::move(the_verb)) {}

  /// Records the back end and the precision.
  void ran_on(const Engine& engine, Precision precision);

  /// Returns the content of Page::settings: settings, seed, back end, precision and notes.
  [[nodiscard]] nlohmann::ordered_json page_settings() const;

  /// Throws Error{numerical} with the key of the first non-finite number, e.g. "results.accuracy[2]": JSON cannot
  /// represent it, and null would hide it.
  [[nodiscard]] nlohmann::ordered_json to_json() const;
  /// Returns indented text ending in a newline; invalid UTF-8 becomes U+FFFD.
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
