#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/report/html.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace widelimit::experiment {

/// An option of one experiment, besides those that every experiment has.
struct Option {
  std::string name;   ///< without dashes
  std::string type;   ///< as in the help: "N"
  std::string help;   ///< one line
  std::string value;  ///< unless given
  std::string full;   ///< unless given, with --full; empty: the same
};

/// What a run is asked for.
struct Setting {
  const Engine& engine;
  Precision precision = Precision::f64;
  std::optional<std::size_t> memory;
  std::uint64_t seed = 0;
  bool figures = false;  ///< make them
  Progress* progress = nullptr;
  std::map<std::string, std::string> values;  ///< of every option

  [[nodiscard]] const std::string& text(const std::string& option) const;
  /// What stands between commas, at least one.
  [[nodiscard]] std::vector<std::string> words(const std::string& option) const;
  /// Error{usage} names the option where it is not a whole number of at least `least`, or not a positive number.
  [[nodiscard]] Index count(const std::string& option, Index least) const;
  [[nodiscard]] double positive(const std::string& option) const;
  /// Numbers between commas, all from `least` to `most`, at least one.
  [[nodiscard]] std::vector<double> numbers(const std::string& option, double least, double most) const;
  /// Whole numbers between commas, all at least `least`, at least one.
  [[nodiscard]] std::vector<Index> counts(const std::string& option, Index least) const;
};

/// A part of what came out: a table of ours beside the published, words below it, pictures.
struct Part {
  std::string heading;
  Table table;
  std::string words;
  std::vector<Illustration> pictures;  ///< empty unless Setting::figures
  bool sortable = false;               ///< the table has a row for each of many, which the page sorts by any column
};

struct Outcome {
  std::string sentence;  ///< the one to read
  std::vector<Part> parts;
  nlohmann::ordered_json results = nlohmann::ordered_json::object();
  std::vector<std::pair<std::string, double>> timings;  ///< seconds
  std::string trouble;  ///< a numerical failure of a part, and what to do; empty where there is none
};

/// A table or figure of a published work, computed again.
struct Experiment {
  std::string name;
  std::string summary;  ///< one line
  std::string work;     ///< what it reproduces: the work, its table or figure
  std::vector<Option> options;
  Precision precision = Precision::f64;  ///< of kernels, unless asked for
  std::function<Outcome(const Setting&)> run;
};

/// Every experiment there is, in the order of `experiment list`.
[[nodiscard]] std::vector<Experiment> all_experiments();

}  // namespace widelimit::experiment
