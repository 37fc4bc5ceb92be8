#pragma once

#include "widelimit/data/request.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

/// Forward declaration: the header of CLI11 is slow to compile.
namespace CLI {
class App;
}  // namespace CLI

namespace widelimit::app {

/// Values of the data options.
struct DataChoice {
  DataRequest request;
  std::string scale{to_string(DataRequest{}.scale)};
  std::string split_order{to_string(DataRequest{}.split_order)};
  std::string missing{to_string(DataRequest{}.table.missing)};
  std::optional<std::string> task;
  std::string part{to_string(Part::all)};  ///< --part, for new samples
  std::optional<std::string> shape;

  /// Returns the request. Throws Error{usage} if options contradict each other.
  [[nodiscard]] DataRequest parsed() const;
};

/// Adds --train SPEC, required.
void add_train_option(CLI::App& verb, DataChoice& choice);

/// Adds --classes, --limit, --shuffle, --label, --scale, --task, --shape, --channels-first and the options of tables;
/// if `test`, also those of a test set.
void add_data_options(CLI::App& verb, DataChoice& choice, bool test);

/// Adds the options of new samples for a model: --test SPEC, required and described as `what`, --part, --classes,
/// --limit, --shuffle, --label, --missing.
void add_new_sample_options(CLI::App& verb, DataChoice& choice, const std::string& what);

/// Returns the data options for records and files, without those that are not set.
[[nodiscard]] nlohmann::ordered_json data_settings(const DataRequest& request);
/// Returns the same for new samples.
[[nodiscard]] nlohmann::ordered_json new_sample_settings(const DataChoice& choice);

}  // namespace widelimit::app
