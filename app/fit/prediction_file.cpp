#include "app/fit/prediction_file.hpp"

#include "app/kernel/kernel_file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/report/csv.hpp"

#include <fmt/format.h>

#include <limits>

namespace widelimit::app {

namespace {

/// Returns the names of the outputs of a model.
std::vector<std::string> score_names(const Predictor& model, Index outputs) {
  const bool values = model.scheme == Scheme::values;
  if (outputs == 1) return {values ? "value" : "score"};
  std::vector<std::string> names;
  const std::vector<std::string>& classes = model.classes;
  if (values) {
    for (Index c = 0; c < outputs; ++c) names.push_back(fmt::format("value_{}", c));
  } else if (is_pairwise(model.scheme)) {
    for (std::size_t c = 0; c < classes.size(); ++c) {
      for (std::size_t d = c + 1; d < classes.size(); ++d) {
        names.push_back(fmt::format("score({}|{})", classes[c], classes[d]));
      }
    }
  } else {
    for (const std::string& name : classes) names.push_back(fmt::format("score({})", name));
  }
  return names;
}

std::vector<Index> predicted_classes(const Predictor& model, const Predictions& predictions) {
  if (model.scheme == Scheme::values) return {};
  return classes_of(model.scheme, std::ssize(model.classes), predictions.decisions.view());
}

void write_npz_predictions(const std::filesystem::path& path, const Predictor& model, const Predictions& predictions,
                           const nlohmann::ordered_json& settings) {
  const std::vector<Index> classes = predicted_classes(model, predictions);
  const std::vector<std::int64_t> numbers(classes.begin(), classes.end());
  const bool values = model.scheme == Scheme::values;
  std::vector<NamedArray> arrays{{values ? "values" : "scores", predictions.decisions.view(), {}}};
  if (!values) arrays.push_back(list_array("class", numbers));
  if (predictions.probabilities.rows() > 0) arrays.push_back({"probabilities", predictions.probabilities.view(), {}});
  if (!predictions.deviation.empty()) arrays.push_back(list_array("std", predictions.deviation));
  nlohmann::ordered_json all = settings;
  all["score_names"] = score_names(model, predictions.decisions.cols());
  write_arrays(path, arrays, all);
}

}  // namespace

Table prediction_table(const Predictor& model, const Predictions& predictions, Index most) {
  Table table{.columns = {"sample"}};
  const Matrix<double>& decisions = predictions.decisions;
  const bool values = model.scheme == Scheme::values;
  const Index outputs = decisions.cols() <= most ? decisions.cols() : 0;
  const Index likely = predictions.probabilities.cols() <= most ? predictions.probabilities.cols() : 0;
  if (!values) table.columns.emplace_back("class");
  if (outputs > 0) {
    const std::vector<std::string> names = score_names(model, outputs);
    table.columns.insert(table.columns.end(), names.begin(), names.end());
  }
  for (Index c = 0; c < likely; ++c) {
    table.columns.push_back(fmt::format("p({})", model.classes[static_cast<std::size_t>(c)]));
  }
  if (!predictions.deviation.empty()) table.columns.emplace_back("std");
  const std::vector<Index> classes = predicted_classes(model, predictions);
  for (Index i = 0; i < decisions.rows(); ++i) {
    std::vector<Cell> row{static_cast<std::int64_t>(i)};
    if (!values) row.emplace_back(model.classes[static_cast<std::size_t>(classes[static_cast<std::size_t>(i)])]);
    for (Index c = 0; c < outputs; ++c) row.emplace_back(decisions(i, c));
    for (Index c = 0; c < likely; ++c) row.emplace_back(predictions.probabilities(i, c));
    if (!predictions.deviation.empty()) row.emplace_back(predictions.deviation[static_cast<std::size_t>(i)]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

void check_prediction_path(const std::filesystem::path& path) {
  if (!is_table_file(path) && path.extension() != ".npz") {
    fail(Code::usage, "--out {}: the extension must be .csv, .tsv, .json or .npz", path.string());
  }
  check_writable(path, 0);
}

void write_predictions(const std::filesystem::path& path, const Predictor& model, const Predictions& predictions,
                       const nlohmann::ordered_json& settings) {
  if (path.extension() == ".npz") return write_npz_predictions(path, model, predictions, settings);
  write_table(prediction_table(model, predictions, std::numeric_limits<Index>::max()), path);
}

}  // namespace widelimit::app
