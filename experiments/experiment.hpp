#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/report/html.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace widelimit {
struct TrainOptions;
}  // namespace widelimit

namespace widelimit::experiment {

/// Returns "1 epoch" or "5 epochs".
[[nodiscard]] std::string counted(Index count, std::string_view unit);

/// An option of one experiment, in addition to the common options.
struct Option {
  std::string name;   ///< without dashes
  std::string type;   ///< as in the help: "N"
  std::string help;   ///< one line
  std::string value;  ///< default
  std::string full;   ///< default with --full; empty: the same
};

/// Settings of a run.
struct Setting {
  const Engine& engine;
  Precision precision = Precision::f64;
  std::optional<std::size_t> memory;
  std::uint64_t seed = 0;
  bool figures = false;  ///< whether to draw figures
  Progress* progress = nullptr;
  std::map<std::string, std::string> values;  ///< value of every option

  [[nodiscard]] const std::string& text(const std::string& option) const;
  /// Returns the comma-separated words, at least one.
  [[nodiscard]] std::vector<std::string> words(const std::string& option) const;
  /// Returns an integer. Throws Error{usage} with the name of the option if it is not an integer of at least `least`.
  [[nodiscard]] Index count(const std::string& option, Index least) const;
  /// Returns a number. Throws Error{usage} with the name of the option if it is not positive and finite.
  [[nodiscard]] double positive(const std::string& option) const;
  /// Returns comma-separated numbers, at least one, all in [least, most].
  [[nodiscard]] std::vector<double> numbers(const std::string& option, double least, double most) const;
  /// Returns comma-separated integers, at least one, all at least `least`.
  [[nodiscard]] std::vector<Index> counts(const std::string& option, Index least) const;

  /// Loads the data of a request within `memory`, with `progress`.
  [[nodiscard]] TrainTest load(DataRequest request) const;
  /// Returns training options with the seed, precision, memory and progress of the run.
  [[nodiscard]] TrainOptions training() const;
};

/// A section of the results: a table of our and published values, a text below it, and figures.
struct Part {
  std::string heading;
  Table table;
  std::string words;
  std::vector<Illustration> pictures;  ///< empty unless Setting::figures
  bool sortable = false;               ///< whether the report page can sort the table by any column
};

struct Outcome {
  std::string sentence;  ///< summary of the results
  std::vector<Part> parts;
  nlohmann::ordered_json results = nlohmann::ordered_json::object();
  std::vector<std::pair<std::string, double>> timings;  ///< seconds
  std::string trouble;  ///< a numerical failure of a part, and its remedy; empty without failure
};

/// Reproduction of a table or figure of a published work.
struct Experiment {
  std::string name;
  std::string summary;  ///< one line
  std::string work;     ///< the reproduced work, with its table or figure
  std::vector<Option> options;
  Precision precision = Precision::f64;  ///< default precision of kernels
  std::function<Outcome(const Setting&)> run;
};

/// Returns all experiments, in the order of `experiment list`.
[[nodiscard]] std::vector<Experiment> all_experiments();

}  // namespace widelimit::experiment
