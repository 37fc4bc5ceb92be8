#include "app/fit/machine_pages.hpp"
#include "app/fit/predictor.hpp"
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

nlohmann::ordered_json rows_json(const Matrix<double>& m) {
  auto rows = nlohmann::ordered_json::array();
  for (Index i = 0; i < m.rows(); ++i) {
    rows.push_back(std::vector<double>(m.view().row(i), m.view().row(i) + m.cols()));
  }
  return rows;
}

/// A row for each sample: its number, what the model says, the scores behind it and the probabilities, each where no
/// more than `most` columns are theirs.
Table prediction_table(const Predictor& model, const Said& said, Index most) {
  Table table{.columns = {"sample"}};
  const Matrix<double>& decisions = said.decisions;
  const bool values = model.scheme == Scheme::values;
  const Index outputs = decisions.cols() <= most ? decisions.cols() : 0;
  const Index likely = said.probabilities.cols() <= most ? said.probabilities.cols() : 0;
  if (!values) table.columns.emplace_back("class");
  for (Index c = 0; c < outputs; ++c) {
    table.columns.push_back(decisions.cols() == 1 ? (values ? "value" : "score") : fmt::format("score_{}", c));
  }
  for (Index c = 0; c < likely; ++c) {
    table.columns.push_back(fmt::format("p({})", model.classes[static_cast<std::size_t>(c)]));
  }
  if (!said.deviation.empty()) table.columns.emplace_back("std");
  const auto told =
      values ? std::vector<Index>{} : classes_of(model.scheme, std::ssize(model.classes), decisions.view());
  for (Index i = 0; i < decisions.rows(); ++i) {
    std::vector<Cell> row{static_cast<std::int64_t>(i)};
    if (!values) row.emplace_back(model.classes[static_cast<std::size_t>(told[static_cast<std::size_t>(i)])]);
    for (Index c = 0; c < outputs; ++c) row.emplace_back(decisions(i, c));
    for (Index c = 0; c < likely; ++c) row.emplace_back(said.probabilities(i, c));
    if (!said.deviation.empty()) row.emplace_back(said.deviation[static_cast<std::size_t>(i)]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

void run_predict(const PredictChoice& options) {
  options.common.check_report(true);
  options.common.check_apart(options.out, options.data.specs({options.model}));
  require_no_scale(options.data);
  const auto engine = options.common.make_engine();
  const Predictor model = load_predictor(options.model, options.common, *engine);
  if (options.out) check_writable(*options.out, 0);
  if (options.covariance) {
    if (!model.model || !model.model->posterior) {
      fail(Code::usage, "--covariance: the model has no posterior; fit ridge with --posterior");
    }
    if (options.out == options.covariance) fail(Code::usage, "--out and --covariance are both '{}'", *options.out);
    options.common.check_apart(options.covariance, options.data.specs({options.model}));
    check_kernel_path(*options.covariance, 0);
  }
  Dataset data = load_samples(options.common, options.data, model);

  ProgressBar bar(options.common);
  PredictOptions how;
  if (const auto memory = options.common.memory_limit()) how.memory = *memory;
  how.factor_memory = options.common.memory_limit();
  how.covariance = options.covariance.has_value();
  how.progress = &bar;
  const auto start = Clock::now();
  const Said said = say(model, data, *engine, how);
  Record record("predict");
  record.settings["model"] = options.model;
  record.settings["data"] = data_settings(options.data.parsed());
  record.seed = options.common.seed;
  record.ran_on(*engine, model.precision());
  record.timings.emplace_back("predict", seconds_since(start));
  record.results["samples"] = data.count();
  std::string words;
  if (options.out) {
    write_csv(prediction_table(model, said, std::numeric_limits<Index>::max()), *options.out);
    record.results["file"] = *options.out;
  } else {
    constexpr Index most_columns = 4;  // more is wider than a terminal
    const Table table = prediction_table(model, said, most_columns);
    words += table_text(table);
    if (model.scheme != Scheme::values) {
      for (const auto& row : table.rows) record.results["classes"].push_back(std::get<std::string>(row[1]));
    }
    record.results["scores"] = rows_json(said.decisions);
    if (!said.deviation.empty()) record.results["std"] = said.deviation;
    if (said.probabilities.rows() > 0) record.results["probabilities"] = rows_json(said.probabilities);
  }
  std::vector<NamedScore> scores;
  if (const auto found = score(model.scheme, std::ssize(model.classes), said.decisions, data)) {
    record.results["score"] = score_json(*found);
    words += score_text(*found) + "\n";
    scores.emplace_back("test", *found);
  }
  if (options.out) words += fmt::format("written to {}\n", *options.out);
  if (options.covariance) {
    write_arrays(*options.covariance, {{"covariance", said.covariance.view(), {}}}, record.settings);
    record.results["covariance"] = *options.covariance;
    words += fmt::format("covariance in {}\n", *options.covariance);
  }
  if (options.common.report) {
    write_prediction_page(*options.common.report, fmt::format("{} on {}", model.name(), data.name), scores,
                          model.classes, record.settings);
    record.results["report"] = *options.common.report;
    words += fmt::format("report in {}\n", *options.common.report);
  }
  deliver(options.common, record, words);
}

}  // namespace

void add_predict(Program& program) {
  auto* verb = program.cli.add_subcommand("predict", "Predictions of a fitted model or a trained network");
  const auto options = std::make_shared<PredictChoice>();
  verb->add_option("--model", options->model, "File of a fitted model or of a trained network")
      ->type_name("MODEL.h5")
      ->required();
  verb->add_option("--test", options->data.request.train, "Samples (see 'widelimit data list')")
      ->type_name("SPEC")
      ->required()
      ->group("Data");
  verb->add_option("--out", options->out, "Table of classes, scores and probabilities")->type_name("P.csv");
  verb->add_option("--covariance", options->covariance, "Of a model with a posterior: covariance between samples")
      ->type_name("C.npz|.h5");
  add_data_options(*verb, options->data, false);
  add_common_options(*verb, options->common);
  set_example(*verb, "widelimit predict --model model.h5 --test digits --limit 20");
  verb->callback([options, &program] { program.action = [options] { run_predict(*options); }; });
}

}  // namespace widelimit::app
