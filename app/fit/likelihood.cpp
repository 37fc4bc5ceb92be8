#include "app/shell/data_options.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/network_targets.hpp"
#include "widelimit/machine/ridge/marginal_likelihood.hpp"
#include "widelimit/report/fit_summary.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

namespace {

/// Values of the options of `likelihood`.
struct LikelihoodChoice {
  CommonOptions common;
  DataChoice data;
  std::string network;
  std::string kind = "nngp";
  std::optional<double> noise;
  bool optimise = false;
  std::optional<double> w_std;
  std::optional<double> b_std;
  std::vector<double> w_std_range;
  std::vector<double> b_std_range;
  std::vector<double> noise_range;
  Index starts = LikelihoodSearchOptions{}.starts;
  double tolerance = LikelihoodSearchOptions{}.tolerance;
  Index iterations = LikelihoodSearchOptions{}.max_iterations;

  [[nodiscard]] Kind parsed_kind() const;
  [[nodiscard]] MarginalLikelihoodOptions value_options(Progress* progress) const;
  [[nodiscard]] LikelihoodSearchOptions search_options(Progress* progress) const;
};

Kind LikelihoodChoice::parsed_kind() const {
  const Kind found = parse_kind(kind);
  if (found == Kind::both) fail(Code::usage, "--kind {}: a Gaussian process has one covariance, nngp or ntk", kind);
  return found;
}

MarginalLikelihoodOptions LikelihoodChoice::value_options(Progress* progress) const {
  if (w_std || b_std || !w_std_range.empty() || !b_std_range.empty() || !noise_range.empty()) {
    fail(Code::usage, "starts and bounds require --optimise; without it w_std and b_std are those of the network");
  }
  return {.kind = parsed_kind(), .noise = noise.value_or(0), .memory = common.memory_limit(), .progress = progress};
}

LikelihoodSearchOptions LikelihoodChoice::search_options(Progress* progress) const {
  LikelihoodSearchOptions options;
  options.kind = parsed_kind();
  options.w_std = w_std;
  options.b_std = b_std;
  options.noise = noise;
  if (!w_std_range.empty()) options.w_std_range = {w_std_range[0], w_std_range[1]};
  if (!b_std_range.empty()) options.b_std_range = {b_std_range[0], b_std_range[1]};
  if (!noise_range.empty()) options.noise_range = {noise_range[0], noise_range[1]};
  options.starts = starts;
  options.seed = common.seed;
  options.tolerance = tolerance;
  options.max_iterations = iterations;
  options.memory = common.memory_limit();
  options.progress = progress;
  check_options(options);
  return options;
}

nlohmann::ordered_json triple_json(double w_std, double b_std, double noise) {
  return {{"w_std", w_std}, {"b_std", b_std}, {"noise", noise}};
}
nlohmann::ordered_json parameters_json(const ProcessParameters& p) { return triple_json(p.w_std, p.b_std, p.noise); }
nlohmann::ordered_json gradient_json(const std::array<double, 3>& g) { return triple_json(g[0], g[1], g[2]); }

/// Result for the record and the page, with and without --optimise.
struct LikelihoodOutcome {
  Table table;
  std::string sentence;
  Summary summary;
  double quadrature_error = 0;
  nlohmann::ordered_json results;
};

LikelihoodOutcome evaluate_likelihood(const LikelihoodChoice& choice, const Network& network, const Dataset& data,
                                      const Matrix<double>& targets, const Engine& engine) {
  ProgressBar bar(choice.common);
  const MarginalLikelihoodOptions options = choice.value_options(&bar);
  const MarginalLikelihood found = marginal_likelihood(network, data.view(), targets.view(), options, engine);
  LikelihoodOutcome result{.summary = found.summary, .quadrature_error = found.quadrature_error};
  if (!found.summary.converged()) return result;
  result.table = {.columns = {"logarithm of", "gradient"},
                  .rows = {{"w_std", found.gradient[0]}, {"b_std", found.gradient[1]}, {"noise", found.gradient[2]}}};
  result.sentence = fmt::format("log marginal likelihood {:.10g} at noise {:.6g}", found.value, options.noise);
  result.results["log_marginal_likelihood"] = found.value;
  result.results["gradient"] = gradient_json(found.gradient);
  return result;
}

Table starts_table(const std::vector<LikelihoodStart>& starts) {
  Table table{.columns = {"start", "w_std", "b_std", "noise", "log p", "→ w_std", "→ b_std", "→ noise", "→ log p",
                          "gradient", "iterations", "ending"}};
  const auto cell = [](std::optional<double> value) { return value ? Cell(*value) : Cell(); };
  const auto short_text = [](double value) { return Cell(fmt::format("{:.4g}", value)); };
  std::int64_t number = 0;
  for (const LikelihoodStart& start : starts) {
    table.rows.push_back({++number, short_text(start.from.w_std), short_text(start.from.b_std),
                          short_text(start.from.noise), cell(start.from_value), short_text(start.to.w_std),
                          short_text(start.to.b_std), short_text(start.to.noise), cell(start.value),
                          short_text(start.gradient), static_cast<std::int64_t>(start.iterations),
                          std::string(text(start.ending))});
  }
  return table;
}

LikelihoodOutcome maximise_likelihood(const LikelihoodChoice& choice, const Network& network, const Dataset& data,
                                      const Matrix<double>& targets, const Engine& engine) {
  ProgressBar bar(choice.common);
  const LikelihoodOptimum found =
      optimise_marginal_likelihood(network, data.view(), targets.view(), choice.search_options(&bar), engine);
  LikelihoodOutcome result{
      .table = starts_table(found.starts), .summary = found.summary, .quadrature_error = found.quadrature_error};
  auto& starts = result.results["starts"] = nlohmann::ordered_json::array();
  for (const LikelihoodStart& start : found.starts) {
    nlohmann::ordered_json entry{{"from", parameters_json(start.from)}, {"to", parameters_json(start.to)}};
    if (start.from_value) entry["from_log_marginal_likelihood"] = *start.from_value;
    if (start.value) entry["log_marginal_likelihood"] = *start.value;
    entry["gradient"] = start.gradient;
    entry["iterations"] = start.iterations;
    entry["ending"] = text(start.ending);
    starts.push_back(std::move(entry));
  }
  if (found.summary.ending == Ending::not_positive_definite) return result;
  result.results["network"] = found.network.to_text();
  result.results["parameters"] = parameters_json(found.parameters);
  result.results["lambda"] = 2 * found.parameters.noise;
  result.results["log_marginal_likelihood"] = found.value;
  result.results["gradient"] = gradient_json(found.gradient);
  result.sentence = fmt::format(
      "best: log marginal likelihood {:.10g}, noise {:.6g}\nfit with: --network \"{}\" --kind {} --machine ridge "
      "--posterior --lambda {:.6g}",
      found.value, found.parameters.noise, found.network.to_text(), choice.kind, 2 * found.parameters.noise);
  return result;
}

void run_likelihood(const LikelihoodChoice& choice) {
  choice.common.check_report(false);
  if (parse_precision(choice.common.precision) != Precision::f64) {
    fail(Code::usage, "--precision {}: the likelihood and its gradient are computed in f64; leave it out",
         choice.common.precision);
  }
  // Options are checked before any data are read.
  if (choice.optimise) {
    (void)choice.search_options(nullptr);
  } else {
    check_options(choice.value_options(nullptr));
  }
  const Network network = Network::parse(choice.network);
  const auto engine = choice.common.make_engine();
  const DataRequest request = choice.data.parsed();
  const TrainTest loaded = load_request(choice.common, request);
  const Dataset& data = loaded.train;
  const Matrix<double> targets = training_targets(data, data.class_names, {.kind = LossKind::squared});
  LikelihoodOutcome found = choice.optimise ? maximise_likelihood(choice, network, data, targets, *engine)
                                            : evaluate_likelihood(choice, network, data, targets, *engine);
  warn_quadrature(choice.common, found.quadrature_error, Precision::f64);
  if (!choice.optimise && !choice.noise) {
    note(choice.common,
         "the noise variance is 0, so the labels are taken as exact; give --noise, or estimate it with --optimise");
  }

  Record record("likelihood");
  record.settings["network"] = network.to_text();
  record.settings["kind"] = choice.kind;
  record.settings["optimise"] = choice.optimise;
  if (choice.noise) record.settings["noise"] = *choice.noise;
  if (choice.optimise) record.settings["starts"] = choice.starts;
  record.settings["data"] = data_settings(request);
  record.notes = loaded.notes;
  record.seed = choice.common.seed;
  record.ran_on(*engine, Precision::f64);
  record.timings.emplace_back("likelihood", found.summary.seconds);
  record.results = std::move(found.results);
  record.results["summary"] = summary_json(found.summary);
  std::string output = found.table.rows.empty() ? "" : table_text(found.table);
  if (!found.sentence.empty()) output += found.sentence + "\n";
  if (choice.common.report) {
    Page page("Marginal likelihood", found.sentence.empty() ? found.summary.message : found.sentence);
    if (!found.table.rows.empty()) page.section(choice.optimise ? "Starts" : "Gradient").table(found.table);
    page.section("Search")
        .table(summary_table(found.summary))
        .settings(record.page_settings())
        .write(*choice.common.report);
    add_report(record, output, *choice.common.report);
  }
  print_result(choice.common, record, output);
  if (!found.summary.converged()) {
    fail(Code::numerical, "{}: {}", text(found.summary.ending), found.summary.message);
  }
  if (!found.summary.message.empty()) note(choice.common, found.summary.message);
}

void add_range(CLI::App& verb, const char* name, std::vector<double>& range, const char* help) {
  verb.add_option(name, range, help)->type_name("LOW,HIGH")->delimiter(',')->expected(2)->group("Search");
}

}  // namespace

void add_likelihood(Program& program) {
  auto* verb = program.cli.add_subcommand(
      "likelihood", "Marginal likelihood of a network's Gaussian process, maximised over w_std, b_std and noise");
  const auto choice = std::make_shared<LikelihoodChoice>();
  constexpr const char* group = "Gaussian process";
  constexpr const char* search = "Search";
  verb->add_option("--network", choice->network, "Network: text, preset, JSON, or a file with one of these")
      ->type_name("NET")
      ->required()
      ->group(group);
  verb->add_option("--kind", choice->kind, "Covariance: nngp (the prior of the network) or ntk")
      ->type_name("KIND")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--noise", choice->noise, "Noise variance, default 0; with --optimise the first start")
      ->type_name("S2")
      ->group(group);
  verb->add_flag("--optimise", choice->optimise, "Maximise over a common w_std and b_std of all layers and the noise")
      ->group(search);
  verb->add_option("--w-std", choice->w_std, "First start; default: that of the first layer")
      ->type_name("W")
      ->group(search);
  verb->add_option("--b-std", choice->b_std, "First start; default: that of the first layer, or 0.1")
      ->type_name("B")
      ->group(search);
  add_range(*verb, "--w-std-range", choice->w_std_range, "Bounds, default 0.01,100; equal bounds fix the value");
  add_range(*verb, "--b-std-range", choice->b_std_range, "Bounds, default 0.001,10; 0,0 means no biases");
  add_range(*verb, "--noise-range", choice->noise_range,
            "Bounds, default 1e-6,10 times the mean square of the targets");
  verb->add_option("--starts", choice->starts, "Number of starts; all but the first are drawn by --seed")
      ->type_name("N")
      ->capture_default_str()
      ->group(search);
  verb->add_option("--tolerance", choice->tolerance, "Tolerance of the gradient by logarithms, per target")
      ->type_name("T")
      ->capture_default_str()
      ->group(search);
  verb->add_option("--iterations", choice->iterations, "Iteration limit of each start")
      ->type_name("N")
      ->capture_default_str()
      ->group(search);
  add_train_option(*verb, choice->data);
  add_data_options(*verb, choice->data, false);
  add_common_options(*verb, choice->common);
  set_example(*verb,
              "widelimit likelihood --network fc:2 --train digits --classes 3,8 --limit 100 --scale unit --optimise");
  verb->callback([choice, &program] { program.action = [choice] { run_likelihood(*choice); }; });
}

}  // namespace widelimit::app
