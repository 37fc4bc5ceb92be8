#include "app/fit/fit_outcome.hpp"
#include "app/fit/machine_pages.hpp"
#include "app/fit/scores_text.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/labels/labels.hpp"
#include "widelimit/machine/fit_data.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/machine/model_file.hpp"
#include "widelimit/machine/probability/probability.hpp"
#include "widelimit/report/fit_summary.hpp"
#include "widelimit/report/scores.hpp"

#include <vector>

namespace widelimit::app {

namespace {

/// Prints why conjugate gradients were chosen automatically.
void note_solver(const FitOptions& options, const FittedData& fitted) {
  if (!fitted.note.empty()) note(options.common, fitted.note + " (--solver cg)");
}

FittedData fitted_machine(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
                          const Engine& engine) {
  if (options.probability) require_members(data.train, 2, "probabilities need");
  FitDataOptions how{.machine = options.machine_options(data.train),
                     .posterior = options.posterior,
                     .solver = parse_solver(options.solver),
                     .memory = options.common.memory_limit(),
                     .label_aware = options.label_aware.options(options.common.seed)};
  if (options.kernel.gram) {
    ProgressBar bar(options.common);
    how.machine.progress = &bar;
    FittedData fitted = fit_data(file_kernels(*options.kernel.gram, request, data, how, engine), data, how, engine);
    note_solver(options, fitted);
    return fitted;
  }
  ProgressBar bar(options.common);
  KernelRequest kernel_request = request;
  kernel_request.progress = how.machine.progress = &bar;
  FittedData fitted = fit_data(kernel_request, data, how, engine);
  warn_quadrature(options.common, fitted.quadrature_error, request.precision);
  note_solver(options, fitted);
  return fitted;
}

using Json = nlohmann::ordered_json;

Model model_of(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
               const FittedMachine& trained, const Json& settings) {
  Model model = fitted_model(request.kernel, data.train, trained, options.lambda, options.posterior);
  model.kind = request.kind;
  model.precision = request.precision;
  model.channels_first = options.data.request.layout.channels_first;
  model.scaling = data.scaling;
  model.origin = data.origin;
  model.epsilon = options.epsilon;
  model.has_bias = options.bias;
  model.record = settings.dump(-1, ' ', false, Json::error_handler_t::replace);
  model.version = version();
  return model;
}

/// Returns the scores on the training and the test set.
std::vector<NamedScore> scores_of(const FittedData& fitted, const TrainTest& data) {
  const FittedMachine& machine = fitted.machine;
  std::vector<NamedScore> scores;
  const auto add = [&](const char* name, const Matrix<double>& decisions, const Dataset& part) {
    const bool likely = has_probabilities(machine.machine, machine.calibration);
    const Matrix<double> probabilities =
        likely ? class_probabilities(machine.machine, machine.scheme, machine.classes, machine.calibration, decisions)
               : Matrix<double>();
    if (auto found = score(machine.scheme, machine.classes, decisions, part, probabilities)) {
      scores.emplace_back(name, std::move(*found));
    }
  };
  add("train", fitted.train, data.train);
  if (fitted.test) add("test", *fitted.test, *data.test);
  return scores;
}

void run(const FitOptions& options) {
  const KernelRequest request = options.kernel.request(options.common);
  (void)options.machine_options();
  const DataRequest data_request = options.data.parsed();
  const auto engine = options.common.make_engine();
  options.common.check_report(true);
  check_model_path(options.out);

  const TrainTest data = load_request(options.common, data_request);
  if (const auto* network = std::get_if<Network>(&request.kernel)) {
    warn_layout(options.common, *network, data.train.shape);
  }
  Record record("fit");
  record.settings = fit_settings(options, request, data_request);
  record.notes = data.notes;
  record.seed = options.common.seed;
  record.ran_on(*engine, request.precision);
  const FitOutcome outcome = fit_to_file(options, request, data, record.settings, *engine);
  const FittedMachine& trained = outcome.fitted.machine;
  add_timings(record, outcome);
  record.results = outcome.results;
  if (options.common.report) {
    write_fit_page(*options.common.report, fmt::format("{} on {}", to_string(trained.machine), data.train.name),
                   trained.fit.summary, outcome.scores, outcome.model.classes, record.page_settings());
    record.results["report"] = *options.common.report;
  }
  print_result(options.common, record, outcome.text + files_text(options.common, options.out));
  check_ending(trained.fit.summary);
}

}  // namespace

/// The model may have been written as the best so far; the exit status still reports the failure.
void check_ending(const Summary& summary) {
  if (summary.ending == Ending::converged) return;
  fail(Code::numerical, "{}: {}", text(summary.ending), summary.message);
}

void add_timings(Record& record, const FitOutcome& outcome) {
  if (outcome.fitted.kernel_seconds) record.timings.emplace_back("kernel", *outcome.fitted.kernel_seconds);
  record.timings.emplace_back("fit", outcome.fitted.machine.fit.summary.seconds);
}

FitOutcome fit_to_file(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
                       const Json& settings, const Engine& engine) {
  FitOutcome outcome;
  outcome.fitted = fitted_machine(options, request, data, engine);
  const FittedData& fitted = outcome.fitted;
  const FittedMachine& trained = fitted.machine;
  const Summary& summary = trained.fit.summary;
  if (summary.ending == Ending::not_positive_definite || summary.ending == Ending::not_separable) check_ending(summary);

  Json& results = outcome.results;
  outcome.model = model_of(options, request, data, trained, settings);
  if (outcome.fitted.label_aware) {
    results["label_aware"] = label_aware_json(*fitted.label_aware);
    outcome.text += label_aware_summary(*fitted.label_aware);
    outcome.model.label_aware = std::move(outcome.fitted.label_aware->aware);
  }
  const Model& model = outcome.model;
  save_model(options.out, model);
  results["machine"] = to_string(trained.machine);
  results["scheme"] = to_string(trained.scheme);
  results["samples"] = data.train.count();
  results["support"] = model.supports();
  results["summary"] = summary_json(summary);
  outcome.text += table_text(summary_table(summary));
  outcome.text += fmt::format("{} of {} samples are support vectors\n", model.supports(), data.train.count());
  if (!fitted.residuals.empty()) results["residuals"] = fitted.residuals;
  if (fitted.likelihood) {
    results["log_marginal_likelihood"] = *fitted.likelihood;
    outcome.text += fmt::format("log marginal likelihood {:.6g}\n", *fitted.likelihood);
  }
  outcome.scores = scores_of(fitted, data);
  for (const NamedScore& part : outcome.scores) results[part.first] = part_json(part, model.classes);
  outcome.text += scores_text(outcome.scores, model.classes);
  const auto add_outputs = [&](const char* name, const Matrix<double>& decisions, const Dataset& part) {
    if (part.outputs.rows() == 0) return;
    outcome.text += fmt::format("{:<5} {}\n", name, add_output_errors(decisions, part, results[name]));
  };
  add_outputs("train", fitted.train, data.train);
  if (fitted.test) add_outputs("test", *fitted.test, *data.test);
  results["file"] = options.out;
  return outcome;
}

void add_fit(Program& program) {
  auto* verb = program.cli.add_subcommand("fit", "Fit a kernel machine and write it as a model file");
  const auto options = std::make_shared<FitOptions>();
  add_fit_options(*verb, *options);
  set_example(*verb,
              "widelimit fit --network fc:3 --train digits --split 0.8 --machine svm --lambda 0.1 --out model.h5");
  verb->callback([options, &program] { program.action = [options] { run(*options); }; });
}

}  // namespace widelimit::app
