#include "app/shell/data_options.hpp"
#include "app/shell/loading.hpp"
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

/// `likelihood` as typed.
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
  Index iterations = LikelihoodSearchOptions{}.most_iterations;

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
    fail(Code::usage, "starts and bounds are of --optimise; without it the network says its own w_std and b_std");
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
  options.most_iterations = iterations;
  options.memory = common.memory_limit();
  options.progress = progress;
  options.validate();
  return options;
}

nlohmann::ordered_json triple_json(double w_std, double b_std, double noise) {
  return {{"w_std", w_std}, {"b_std", b_std}, {"noise", noise}};
}
nlohmann::ordered_json parameters_json(const ProcessParameters& p) { return triple_json(p.w_std, p.b_std, p.noise); }
nlohmann::ordered_json gradient_json(const std::array<double, 3>& g) { return triple_json(g[0], g[1], g[2]); }

/// What the record and the page have of either question.
struct LikelihoodFound {
  Table table;
  std::string sentence;
  Summary summary;
  double quadrature_error = 0;
  nlohmann::ordered_json results;
};

LikelihoodFound ask_value(const LikelihoodChoice& choice, const Network& network, const Dataset& data,
                          const Matrix<double>& targets, const Engine& engine) {
  ProgressBar bar(choice.common);
  const MarginalLikelihoodOptions options = choice.value_options(&bar);
  const MarginalLikelihood found = marginal_likelihood(network, data.view(), targets.view(), options, engine);
  LikelihoodFound result{.summary = found.summary, .quadrature_error = found.quadrature_error};
  if (!found.summary.converged()) return result;
  result.table = {.columns = {"by the logarithm of", "gradient"},
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

LikelihoodFound ask_optimum(const LikelihoodChoice& choice, const Network& network, const Dataset& data,
                            const Matrix<double>& targets, const Engine& engine) {
  ProgressBar bar(choice.common);
  const LikelihoodOptimum found =
      optimise_marginal_likelihood(network, data.view(), targets.view(), choice.search_options(&bar), engine);
  LikelihoodFound result{
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
      "best: log marginal likelihood {:.10g}, noise {:.6g}\nfit it by: --network \"{}\" --kind {} --machine ridge "
      "--posterior --lambda {:.6g}",
      found.value, found.parameters.noise, found.network.to_text(), choice.kind, 2 * found.parameters.noise);
  return result;
}

void run_likelihood(const LikelihoodChoice& choice) {
  choice.common.check_report(false);
  if (parse_precision(choice.common.precision) != Precision::f64) {
    fail(Code::usage, "--precision {}: a likelihood needs f64, by which its gradient is computed",
         choice.common.precision);
  }
  // Contradictions first, before any data are read.
  if (choice.optimise) {
    (void)choice.search_options(nullptr);
  } else {
    choice.value_options(nullptr).validate();
  }
  const Network network = Network::parse(choice.network);
  const auto engine = choice.common.make_engine();
  const DataRequest request = choice.data.parsed();
  const TrainTest loaded = load_within(choice.common, request);
  const Dataset& data = loaded.train;
  const Matrix<double> targets = training_targets(data, data.class_names, {.kind = LossKind::squared});
  LikelihoodFound found = choice.optimise ? ask_optimum(choice, network, data, targets, *engine)
                                          : ask_value(choice, network, data, targets, *engine);
  warn_of(choice.common, found.quadrature_error, Precision::f64);
  if (!choice.optimise && !choice.noise) {
    note(choice.common,
         "without --noise its variance is 0, and the labels are taken as exact; give one, or find it by "
         "--optimise");
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
  std::string words = found.table.rows.empty() ? "" : table_text(found.table);
  if (!found.sentence.empty()) words += found.sentence + "\n";
  if (choice.common.report) {
    Page page("Marginal likelihood", found.sentence.empty() ? found.summary.message : found.sentence);
    if (!found.table.rows.empty()) page.section(choice.optimise ? "Starts" : "Gradient").table(found.table);
    page.section("Search")
        .table(summary_table(found.summary))
        .settings(record.page_settings())
        .write(*choice.common.report);
    record.results["report"] = *choice.common.report;
    words += fmt::format("report in {}\n", *choice.common.report);
  }
  deliver(choice.common, record, words);
  if (!found.summary.converged()) {
    fail(Code::numerical, "{}: {}", text(found.summary.ending), found.summary.message);
  }
  if (!found.summary.message.empty()) note(choice.common, found.summary.message);
}

void add_range(CLI::App& verb, const char* name, std::vector<double>& range, const char* words) {
  verb.add_option(name, range, words)->type_name("LOW,HIGH")->delimiter(',')->expected(2)->group("Search");
}

}  // namespace

void add_likelihood(Program& program) {
  auto* verb = program.cli.add_subcommand(
      "likelihood", "Marginal likelihood of a network's Gaussian process, and its best w_std, b_std and noise");
  const auto choice = std::make_shared<LikelihoodChoice>();
  constexpr const char* group = "Gaussian process";
  constexpr const char* search = "Search";
  verb->add_option("--network", choice->network, "The network: text, preset, JSON, or a file of one")
      ->type_name("NET")
      ->required()
      ->group(group);
  verb->add_option("--kind", choice->kind, "Covariance: nngp, the prior of the network, or ntk")
      ->type_name("KIND")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--noise", choice->noise, "Variance of the noise, else 0; with --optimise the first start")
      ->type_name("S2")
      ->group(group);
  verb->add_flag("--optimise", choice->optimise, "Maximise over one w_std and b_std of all layers and over the noise")
      ->group(search);
  verb->add_option("--w-std", choice->w_std, "First start; else that of the first layer")
      ->type_name("W")
      ->group(search);
  verb->add_option("--b-std", choice->b_std, "First start; else that of the first layer, or 0.1")
      ->type_name("B")
      ->group(search);
  add_range(*verb, "--w-std-range", choice->w_std_range, "Bounds, else 0.01,100; fixed where equal");
  add_range(*verb, "--b-std-range", choice->b_std_range, "Bounds, else 0.001,10; 0,0 for no biases");
  add_range(*verb, "--noise-range", choice->noise_range, "Bounds, else 1e-6,10 times the mean square of the targets");
  verb->add_option("--starts", choice->starts, "The first, and others drawn by --seed")
      ->type_name("N")
      ->capture_default_str()
      ->group(search);
  verb->add_option("--tolerance", choice->tolerance, "Of the gradient by logarithms, for each target")
      ->type_name("T")
      ->capture_default_str()
      ->group(search);
  verb->add_option("--iterations", choice->iterations, "Most of each start")
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
