#include "app/fit/machine_pages.hpp"
#include "app/fit/predictor.hpp"
#include "app/fit/scores_text.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/report/csv.hpp"
#include "widelimit/report/scores.hpp"
#include "widelimit/report/table.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>

namespace widelimit::app {

namespace {

struct PredictChoice {
  CommonOptions common;
  DataChoice data;
  std::string model;
  std::optional<std::string> out;
  std::optional<std::string> covariance;
};

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

/// Returns a row per sample: number, predicted class or values, scores and probabilities; scores and probabilities are
/// each left out if they have more than `most` columns. A score is named by its class, or by its pair of classes, where
/// a positive score means the first class.
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

/// Checks the path before the computation. Throws Error{usage} unless the extension is .csv, .tsv, .json or .npz,
/// Error{resource} if the file cannot be written.
void check_prediction_path(const std::filesystem::path& path) {
  if (!is_table_file(path) && path.extension() != ".npz") {
    fail(Code::usage, "--out {}: the extension must be .csv, .tsv, .json or .npz", path.string());
  }
  check_writable(path, 0);
}

/// Writes the predictions in the format of the extension; NPZ files hold arrays, `settings`, and the names of classes
/// and scores. The file is complete or absent.
void write_predictions(const std::filesystem::path& path, const Predictor& model, const Predictions& predictions,
                       const nlohmann::ordered_json& settings) {
  if (path.extension() == ".npz") return write_npz_predictions(path, model, predictions, settings);
  write_table(prediction_table(model, predictions, std::numeric_limits<Index>::max()), path);
}

nlohmann::ordered_json rows_json(const Matrix<double>& m) {
  auto rows = nlohmann::ordered_json::array();
  for (Index i = 0; i < m.rows(); ++i) {
    rows.push_back(std::vector<double>(m.view().row(i), m.view().row(i) + m.cols()));
  }
  return rows;
}

void run_predict(const PredictChoice& options) {
  options.common.check_report(true);
  if (options.out) check_prediction_path(*options.out);
  const auto engine = options.common.make_engine();
  const Predictor model = load_predictor(options.model, options.common, *engine);
  if (options.covariance) {
    if (!model.model || !model.model->posterior) {
      fail(Code::usage, "--covariance: the model has no posterior; fit ridge with --posterior");
    }
    check_kernel_path(*options.covariance, 0);
  }
  NewSamples samples = load_samples(options.common, options.data, model);
  Dataset& data = samples.data;

  ProgressBar bar(options.common);
  PredictOptions how;
  if (const auto memory = options.common.memory_limit()) how.memory = *memory;
  how.factor_memory = options.common.memory_limit();
  how.covariance = options.covariance.has_value();
  how.progress = &bar;
  const auto start = Clock::now();
  const Predictions predictions = predict(model, data, *engine, how);
  Record record("predict");
  record.settings["model"] = options.model;
  record.settings["data"] = new_sample_settings(options.data);
  record.notes = samples.notes;
  record.seed = options.common.seed;
  record.ran_on(*engine, model.precision());
  record.timings.emplace_back("predict", seconds_since(start));
  record.results["samples"] = data.count();
  std::string output;
  if (options.out) {
    write_predictions(*options.out, model, predictions, file_settings(options.common, record.settings, model.classes));
    record.results["file"] = *options.out;
  } else {
    constexpr Index most_columns = 4;  // more do not fit into a terminal
    const Table table = prediction_table(model, predictions, most_columns);
    output += table_text(table);
    if (model.scheme != Scheme::values) {
      for (const auto& row : table.rows) record.results["classes"].push_back(std::get<std::string>(row[1]));
    }
    record.results["scores"] = rows_json(predictions.decisions);
    if (!predictions.deviation.empty()) record.results["std"] = predictions.deviation;
    if (predictions.probabilities.rows() > 0) record.results["probabilities"] = rows_json(predictions.probabilities);
  }
  std::vector<NamedScore> scores;
  if (auto found =
          score(model.scheme, std::ssize(model.classes), predictions.decisions, data, predictions.probabilities)) {
    scores.emplace_back(to_string(samples.part), std::move(*found));
    record.results["score"] = part_json(scores.back(), model.classes);
    output += scores_text(scores, model.classes);
  }
  if (data.outputs.rows() > 0) output += add_output_errors(predictions.decisions, data, record.results["score"]) + "\n";
  if (options.out) output += fmt::format("written to {}\n", *options.out);
  if (options.covariance) {
    write_arrays(*options.covariance, {{"covariance", predictions.covariance.view(), {}}},
                 file_settings(options.common, record.settings, model.classes));
    record.results["covariance"] = *options.covariance;
    output += fmt::format("covariance in {}\n", *options.covariance);
  }
  if (options.common.report) {
    write_prediction_page(*options.common.report, fmt::format("{} on {}", model.name(), data.name), scores,
                          model.classes, record.page_settings());
    add_report(record, output, *options.common.report);
  }
  print_result(options.common, record, output);
}

}  // namespace

void add_predict(Program& program) {
  auto* verb = program.cli.add_subcommand("predict", "Predict with a fitted model or a trained network");
  const auto options = std::make_shared<PredictChoice>();
  verb->add_option("--model", options->model, "File of a fitted model or of a trained network")
      ->type_name("MODEL.h5")
      ->required();
  verb->add_option("--out", options->out, "File of classes, scores and probabilities: .csv, .tsv, .json or .npz")
      ->type_name("P.csv");
  verb->add_option("--covariance", options->covariance, "File of the posterior covariance between samples")
      ->type_name("C.npz|.h5");
  add_new_sample_options(*verb, options->data, "Samples");
  add_common_options(*verb, options->common);
  set_example(*verb, "widelimit predict --model model.h5 --test digits --limit 20");
  verb->callback([options, &program] { program.action = [options] { run_predict(*options); }; });
}

}  // namespace widelimit::app
