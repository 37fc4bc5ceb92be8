#include "app/data_options.hpp"
#include "app/interrupt.hpp"
#include "app/machine_pages.hpp"
#include "app/outcome.hpp"
#include "app/program.hpp"
#include "app/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/file.hpp"
#include "widelimit/data/labels.hpp"
#include "widelimit/finite/network_file.hpp"
#include "widelimit/machine/model_file.hpp"
#include "widelimit/report/csv.hpp"

#include <chrono>

namespace widelimit::app {

namespace {

struct PredictChoice {
  CommonOptions common;
  DataChoice data;
  std::string model;
  std::optional<std::string> out;
};

/// A fitted machine or a trained network, whichever the file holds.
struct Predictor {
  std::optional<Model> model;
  std::optional<SavedNetwork> network;
  std::vector<std::string> classes;
  Scheme scheme = Scheme::values;

  [[nodiscard]] std::string name() const {
    return model ? std::string(to_string(model->machine)) : fmt::format("network of width {}", width());
  }
  [[nodiscard]] Index width() const { return network->trained.widths.hidden; }
  [[nodiscard]] Precision precision() const { return model ? model->precision : network->trained.precision(); }
};

Predictor load_predictor(const PredictChoice& options) {
  Predictor predictor;
  if (holds_network(options.model)) {
    predictor.network = load_network(options.model, options.common.threads);
    predictor.classes = predictor.network->notes.classes;
    const bool single = predictor.network->trained.architecture.output.size() == 1;
    if (!predictor.classes.empty()) predictor.scheme = single ? Scheme::sign : Scheme::one_hot;
  } else {
    predictor.model = load_model(options.model);
    predictor.classes = predictor.model->classes;
    predictor.scheme = predictor.model->scheme;
  }
  return predictor;
}

Matrix<double> decisions_of(const Predictor& predictor, Dataset& data, const PredictChoice& options) {
  ProgressBar bar(options.common);
  if (predictor.network) {
    if (predictor.network->notes.scaling) predictor.network->notes.scaling->apply(data);
    return predict_outputs(predictor.network->trained, data.view(), options.common.threads, &bar);
  }
  PredictOptions how;
  if (const auto memory = options.common.memory_limit()) how.memory = *memory;
  how.progress = &bar;
  return predict_decisions(*predictor.model, data.view(), *options.common.make_backend(), how);
}

/// A row for each sample: its number, what the model says, and the scores behind it where `scores`.
Table prediction_table(const Predictor& model, const Matrix<double>& decisions, bool scores) {
  Table table{.columns = {"sample"}};
  const bool values = model.scheme == Scheme::values;
  const Index outputs = scores ? decisions.cols() : 0;
  if (!values) table.columns.emplace_back("class");
  for (Index c = 0; c < outputs; ++c) {
    table.columns.push_back(decisions.cols() == 1 ? (values ? "value" : "score") : fmt::format("score_{}", c));
  }
  const auto told =
      values ? std::vector<Index>{} : classes_of(model.scheme, std::ssize(model.classes), decisions.view());
  for (Index i = 0; i < decisions.rows(); ++i) {
    std::vector<Cell> row{static_cast<std::int64_t>(i)};
    if (!values) row.emplace_back(model.classes[static_cast<std::size_t>(told[static_cast<std::size_t>(i)])]);
    for (Index c = 0; c < outputs; ++c) row.emplace_back(decisions(i, c));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The samples as they are in their source; labels by the names of the model's classes, where they have them.
Dataset load_samples(const PredictChoice& options, const Predictor& model) {
  ProgressBar bar(options.common);
  DataRequest request = options.data.parsed();
  request.progress = &bar;
  Dataset data = load_train_test(request).train;
  stop_if_interrupted();
  const bool labelled = !data.class_names.empty() || !data.targets.empty();
  if (labelled) relabel(data, model.classes, model.classes.empty());
  return data;
}

void run_predict(const PredictChoice& options) {
  options.common.check_report(true);
  if (options.data.parsed().scale != Scaling::none) {
    fail(Code::usage, "--scale: the model scales samples as it was taught; leave it out");
  }
  const Predictor model = load_predictor(options);
  if (options.out) check_writable(*options.out, 0);
  const auto backend = options.common.make_backend();
  Dataset data = load_samples(options, model);

  const auto start = std::chrono::steady_clock::now();
  const Matrix<double> decisions = decisions_of(model, data, options);
  Record record("predict");
  record.settings["model"] = options.model;
  record.settings["data"] = data_settings(options.data.parsed());
  record.seed = options.common.seed;
  record.ran_on(*backend, model.precision());
  record.timings.emplace_back("predict",
                              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  record.results["samples"] = data.count();
  std::string words;
  if (options.out) {
    write_csv(prediction_table(model, decisions, true), *options.out);
    record.results["file"] = *options.out;
  } else {
    constexpr Index most_columns = 4;  // more scores than a terminal is wide
    const Table table = prediction_table(model, decisions, decisions.cols() <= most_columns);
    words += table_text(table);
    if (model.scheme != Scheme::values) {
      for (const auto& row : table.rows) record.results["classes"].push_back(std::get<std::string>(row[1]));
    }
    for (Index i = 0; i < decisions.rows(); ++i) {
      record.results["scores"].push_back(
          std::vector<double>(decisions.view().row(i), decisions.view().row(i) + decisions.cols()));
    }
  }
  std::vector<NamedScore> scores;
  if (const auto found = score(model.scheme, std::ssize(model.classes), decisions, data)) {
    record.results["score"] = score_json(*found);
    words += score_text(*found) + "\n";
    scores.emplace_back("test", *found);
  }
  if (options.out) words += fmt::format("written to {}\n", *options.out);
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
  auto* verb = program.cli.add_subcommand("predict", "What a fitted model or a trained network says of samples");
  const auto options = std::make_shared<PredictChoice>();
  verb->add_option("--model", options->model, "File of a fitted model or of a trained network")
      ->type_name("MODEL.h5")
      ->required();
  verb->add_option("--test", options->data.request.train, "Samples (see 'widelimit data list')")
      ->type_name("SPEC")
      ->required()
      ->group("Data");
  verb->add_option("--out", options->out, "Table of classes and scores")->type_name("P.csv");
  add_data_options(*verb, options->data, false);
  add_common_options(*verb, options->common);
  set_example(*verb, "widelimit predict --model model.h5 --test digits --limit 20");
  verb->callback([options, &program] { program.action = [options] { run_predict(*options); }; });
}

}  // namespace widelimit::app
