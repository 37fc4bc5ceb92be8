#pragma once

#include "widelimit/data/request.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

/// Named only: its header takes longer to compile than any file here.
namespace CLI {
class App;
}  // namespace CLI

namespace widelimit::app {

/// The data options as typed.
struct DataChoice {
  DataRequest request;
  std::string scale{to_string(DataRequest{}.scale)};
  std::string split_order{to_string(DataRequest{}.split_order)};
  std::string missing{to_string(DataRequest{}.table.missing)};
  std::optional<std::string> task;
  std::string part{to_string(Part::all)};  ///< of new samples
  std::optional<std::string> shape;

  /// Error{usage} where they contradict each other.
  [[nodiscard]] DataRequest parsed() const;
  /// Training and test set as typed, and `more`: files that must not be written over.
  [[nodiscard]] std::vector<std::string> specs(std::vector<std::string> more = {}) const;
};

/// --train SPEC, which must be given.
void add_train_option(CLI::App& verb, DataChoice& choice);

/// --classes, --limit, --shuffle, --label, --scale, --task, --shape, --channels-first, those of tables, and with `test`
/// those of a test set.
void add_data_options(CLI::App& verb, DataChoice& choice, bool test);

/// Samples for a model: --test SPEC, which must be given and is `what`, --part, --classes, --limit, --shuffle, --label,
/// --missing.
void add_new_sample_options(CLI::App& verb, DataChoice& choice, const std::string& what);

/// What was asked for, for records and files; what was not asked for is left out.
[[nodiscard]] nlohmann::ordered_json data_settings(const DataRequest& request);
/// The same of samples for a model.
[[nodiscard]] nlohmann::ordered_json new_sample_settings(const DataChoice& choice);

}  // namespace widelimit::app
