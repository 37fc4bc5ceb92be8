#include "app/fit/machine_pages.hpp"
#include "app/fit/output_errors.hpp"
#include "app/fit/prediction_file.hpp"
#include "app/fit/scores_text.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/report/scores.hpp"

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

void run_predict(const PredictChoice& options) {
  options.common.check_report(true);
  options.common.check_apart(options.out, options.data.specs({options.model}));
  if (options.out) check_prediction_path(*options.out);
  const auto engine = options.common.make_engine();
  const Predictor model = load_predictor(options.model, options.common, *engine);
  if (options.covariance) {
    if (!model.model || !model.model->posterior) {
      fail(Code::usage, "--covariance: the model has no posterior; fit ridge with --posterior");
    }
    if (options.out == options.covariance) fail(Code::usage, "--out and --covariance are both '{}'", *options.out);
    options.common.check_apart(options.covariance, options.data.specs({options.model}));
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
  const Said said = say(model, data, *engine, how);
  Record record("predict");
  record.settings["model"] = options.model;
  record.settings["data"] = new_sample_settings(options.data);
  record.notes = samples.notes;
  record.seed = options.common.seed;
  record.ran_on(*engine, model.precision());
  record.timings.emplace_back("predict", seconds_since(start));
  record.results["samples"] = data.count();
  std::string words;
  if (options.out) {
    write_predictions(*options.out, model, said, file_settings(options.common, record.settings, model.classes));
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
  if (auto found = score(model.scheme, std::ssize(model.classes), said.decisions, data, said.probabilities)) {
    record.results["score"] = score_json(*found, model.classes);
    scores.emplace_back(options.data.part == "train" ? "train" : "test", std::move(*found));
    words += scores_text(scores, model.classes);
  }
  if (data.outputs.rows() > 0) words += tell_output_errors(said.decisions, data, record.results["score"]) + "\n";
  if (options.out) words += fmt::format("written to {}\n", *options.out);
  if (options.covariance) {
    write_arrays(*options.covariance, {{"covariance", said.covariance.view(), {}}},
                 file_settings(options.common, record.settings, model.classes));
    record.results["covariance"] = *options.covariance;
    words += fmt::format("covariance in {}\n", *options.covariance);
  }
  if (options.common.report) {
    write_prediction_page(*options.common.report, fmt::format("{} on {}", model.name(), data.name), scores,
                          model.classes, record.page_settings());
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
  verb->add_option("--out", options->out, "File of classes, scores and probabilities: .csv, .tsv, .json or .npz")
      ->type_name("P.csv");
  verb->add_option("--covariance", options->covariance, "Of a model with a posterior: covariance between samples")
      ->type_name("C.npz|.h5");
  add_new_sample_options(*verb, options->data, "Samples");
  add_common_options(*verb, options->common);
  set_example(*verb, "widelimit predict --model model.h5 --test digits --limit 20");
  verb->callback([options, &program] { program.action = [options] { run_predict(*options); }; });
}

}  // namespace widelimit::app
