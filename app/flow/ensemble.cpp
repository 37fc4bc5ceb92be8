#include "app/flow/ensemble_outcome.hpp"
#include "app/flow/times.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/network_targets.hpp"
#include "widelimit/report/fit_summary.hpp"

#include <CLI/CLI.hpp>

#include <cmath>

namespace widelimit::app {

namespace {

/// Values of the options of `ensemble`.
struct EnsembleChoice {
  CommonOptions common;
  DataChoice data;
  std::string network;
  std::string kind = "ntk";
  std::vector<double> times = EnsembleOptions{}.times;
  double lambda = EnsembleOptions{}.lambda;
  double diag_reg = EnsembleOptions{}.diag_reg;
  bool covariance = false;
  std::optional<std::string> out;

  [[nodiscard]] EnsembleOptions options(Progress* progress) const;
};

EnsembleOptions EnsembleChoice::options(Progress* progress) const {
  EnsembleOptions result{.kind = parse_kind(kind),
                         .times = times,
                         .lambda = lambda,
                         .diag_reg = diag_reg,
                         .covariance = covariance,
                         .precision = parse_precision(common.precision),
                         .memory = common.memory_limit(),
                         .progress = progress};
  if (result.kind == Kind::both)
    fail(Code::usage, "--kind {}: choose ntk (trains all layers) or nngp (trains the last layer)", kind);
  if (covariance && (!out || std::filesystem::path(*out).extension() == ".csv")) {
    fail(Code::usage, "--covariance requires --out FILE.npz or FILE.h5");
  }
  result.validate();
  return result;
}

nlohmann::ordered_json ensemble_settings(const EnsembleChoice& choice, const Network& network,
                                         const DataRequest& request) {
  nlohmann::ordered_json settings;
  settings["network"] = network.to_text();
  settings["kind"] = choice.kind;
  settings["times"] = times_json(choice.times);
  settings["lambda"] = choice.lambda;
  settings["diag_reg"] = choice.diag_reg;
  settings["data"] = data_settings(request);
  return settings;
}

void run_ensemble(const EnsembleChoice& choice) {
  (void)choice.options(nullptr);
  choice.common.check_report(true);
  choice.common.check_distinct_files(choice.out, choice.data.specs());
  if (choice.out) check_series_path(*choice.out);
  const Network network = Network::parse(choice.network);
  const auto engine = choice.common.make_engine();
  const DataRequest request = choice.data.parsed();
  const TrainTest data = load_request(choice.common, request);
  const Dataset& points = data.test ? *data.test : data.train;
  const Matrix<double> targets = training_targets(data.train, data.train.class_names, {.kind = LossKind::squared});

  ProgressBar bar(choice.common);
  const EnsembleOutcome outcome{
      .ensemble = ensemble(network, data.train.view(), targets.view(), points.view(), choice.options(&bar), *engine),
      .train = data.train,
      .points = points,
      .targets = targets};
  const Summary& summary = outcome.ensemble.summary;
  warn_quadrature(choice.common, outcome.ensemble.quadrature_error, parse_precision(choice.common.precision));
  Record record("ensemble");
  record.settings = ensemble_settings(choice, network, request);
  record.notes = data.notes;
  record.seed = choice.common.seed;
  record.ran_on(*engine, parse_precision(choice.common.precision));
  record.timings.emplace_back("ensemble", summary.seconds);
  record.results = ensemble_json(outcome, !choice.out);
  record.results["summary"] = summary_json(summary);
  std::string output;
  if (summary.converged()) {
    output += table_text(ensemble_table(outcome));
    if (choice.out) {
      write_ensemble(*choice.out, outcome, file_settings(choice.common, record.settings, data.train.class_names));
      add_file(record, output, *choice.out);
    }
    if (choice.common.report) {
      write_ensemble_page(*choice.common.report, outcome, record.page_settings());
      add_report(record, output, *choice.common.report);
    }
  }
  print_result(choice.common, record, output);
  if (!summary.converged()) fail(Code::numerical, "{}: {}", text(summary.ending), summary.message);
}

}  // namespace

void add_ensemble(Program& program) {
  auto* verb = program.cli.add_subcommand(
      "ensemble", "Mean and standard deviation of infinitely wide networks trained by gradient flow");
  const auto choice = std::make_shared<EnsembleChoice>();
  constexpr const char* group = "Ensemble";
  verb->add_option("--network", choice->network, "Network: text, preset, JSON, or a file with one of these")
      ->type_name("NET")
      ->required()
      ->group(group);
  verb->add_option("--kind", choice->kind, "ntk: all layers are trained; nngp: only the last layer")
      ->type_name("KIND")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--times", choice->times, "Recorded times, 0 or larger; inf (the default) is the end of training")
      ->type_name("T1,T2,…")
      ->delimiter(',')
      ->group(group);
  verb->add_option("--lambda", choice->lambda, "Weight λ of ‖w - w₀‖²/2, the distance to the initial weights")
      ->type_name("L")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--diag-reg", choice->diag_reg,
                   "Instead of --lambda: λ/2 relative to the mean of the kernel's diagonal")
      ->type_name("R")
      ->capture_default_str()
      ->group(group);
  verb->add_flag("--covariance", choice->covariance, "Also write the covariance between samples")->group(group);
  verb->add_option("--out", choice->out, "File of means and standard deviations")
      ->type_name("E.csv|.npz|.h5")
      ->group(group);
  add_train_option(*verb, choice->data);
  add_data_options(*verb, choice->data, true);
  add_common_options(*verb, choice->common);
  set_example(*verb,
              "widelimit ensemble --network fc:2 --train digits --classes 3,8 --limit 100 --split 0.8 --scale unit "
              "--times 0,1,10,inf --out ensemble.csv");
  verb->callback([choice, &program] { program.action = [choice] { run_ensemble(*choice); }; });
}

}  // namespace widelimit::app
