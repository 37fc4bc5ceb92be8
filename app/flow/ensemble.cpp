#include "app/flow/times.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/analysis/dynamics/ensemble.hpp"
#include "widelimit/analysis/dynamics/machine_limit.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/network_targets.hpp"
#include "widelimit/report/csv.hpp"
#include "widelimit/report/fit_summary.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/scores.hpp"
#include "widelimit/report/table.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

namespace {

/// Largest number of bands on a page.
constexpr Index most_bands = 4;

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
  check_options(result);
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

/// An ensemble with its training samples and the samples of its outputs, which must outlive it.
struct EnsembleOutcome {
  Ensemble ensemble;
  const Dataset& train;
  const Dataset& points;
  const Matrix<double>& targets;  ///< of the training samples
};

double deviation(const Ensemble& found, Index t, Index sample) { return std::sqrt(found.variance(t, sample)); }

double mean_deviation(const Ensemble& found, Index t) {
  double sum = 0;
  for (Index i = 0; i < found.variance.cols(); ++i) sum += deviation(found, t, i);
  return sum / static_cast<double>(found.variance.cols());
}

/// Returns accuracy or mean squared error of the mean, or std::nullopt if the samples have no labels.
std::optional<double> score_at(const EnsembleOutcome& outcome, Index t) {
  const Index classes = outcome.train.labels.empty() ? 0 : std::ssize(outcome.train.class_names);
  const Scheme scheme = classes > 0 ? loss_scheme(LossKind::squared, classes) : Scheme::values;
  Matrix<double> mean(outcome.points.count(), outcome.ensemble.outputs, Content::unset);
  std::copy_n(outcome.ensemble.mean.view().row(t), mean.rows() * mean.cols(), mean.data());
  const auto found = score(scheme, classes, mean, outcome.points);
  if (!found) return std::nullopt;
  if (const auto* values = std::get_if<ValueScores>(&*found)) return values->squared_error;
  return std::get<ClassScores>(*found).accuracy();
}

const char* score_name(const EnsembleOutcome& outcome) {
  return outcome.train.labels.empty() ? "squared error" : "accuracy";
}

Table sample_table(const EnsembleOutcome& outcome) {
  const Ensemble& found = outcome.ensemble;
  Table table{.columns = {"time", "sample"}};
  for (Index o = 0; o < found.outputs; ++o) {
    table.columns.push_back(found.outputs == 1 ? "mean" : fmt::format("mean_{}", o));
  }
  table.columns.emplace_back("std");
  for (Index t = 0; t < std::ssize(found.times); ++t) {
    const double time = found.times[usize(t)];
    for (Index i = 0; i < found.variance.cols(); ++i) {
      std::vector<Cell> row{std::isinf(time) ? Cell(std::string("inf")) : Cell(time), static_cast<std::int64_t>(i)};
      for (Index o = 0; o < found.outputs; ++o) row.emplace_back(found.mean(t, i * found.outputs + o));
      row.emplace_back(deviation(found, t, i));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

/// Returns the only feature of a sample.
double abscissa(const Dataset& data, Index i) {
  return std::visit([&](const auto& rows) { return static_cast<double>(rows(i, 0)); },
                    data.view().dense("plots over one feature"));
}

/// Plots the mean and two standard deviations above and below it against the only feature of the samples.
Illustration band(const EnsembleOutcome& outcome, Index t) {
  const Ensemble& found = outcome.ensemble;
  std::vector<Index> order(usize(found.variance.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return abscissa(outcome.points, a) < abscissa(outcome.points, b); });
  std::vector<Series> lines{{.name = "mean", .stroke = Stroke::line},
                            {.name = "mean + 2 std", .stroke = Stroke::line},
                            {.name = "mean - 2 std", .stroke = Stroke::line},
                            {.name = "training samples", .stroke = Stroke::rings}};
  for (const Index i : order) {
    const double mean = found.mean(t, i * found.outputs);
    const double off = 2 * deviation(found, t, i);
    const std::array<double, 3> heights{mean, mean + off, mean - off};
    for (std::size_t line = 0; line < heights.size(); ++line) {
      lines[line].x.push_back(abscissa(outcome.points, i));
      lines[line].y.push_back(heights[line]);
    }
  }
  for (Index i = 0; i < outcome.train.count(); ++i) {
    lines[3].x.push_back(abscissa(outcome.train, i));
    lines[3].y.push_back(outcome.targets(i, 0));
  }
  return {.figure = curves(lines, {.title = fmt::format("Ensemble at time {}", time_text(found.times[usize(t)])),
                                   .x_label = "x",
                                   .y_label = "f"}),
          .caption = found.outputs > 1 ? "The first output." : ""};
}

/// Returns a row per time: mean of the standard deviations and, if the samples have labels, score of the mean.
Table ensemble_table(const EnsembleOutcome& outcome) {
  const Ensemble& found = outcome.ensemble;
  Table table{.columns = {"time", "mean std"}};
  if (!found.times.empty() && score_at(outcome, 0)) {
    table.columns.push_back(fmt::format("{} of the mean", score_name(outcome)));
  }
  for (Index t = 0; t < std::ssize(found.times); ++t) {
    std::vector<Cell> row{time_text(found.times[usize(t)]), mean_deviation(found, t)};
    if (const auto score = score_at(outcome, t)) row.emplace_back(*score);
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Returns times, mean deviations and scores; if `all`, also the mean and deviation of every sample.
nlohmann::ordered_json ensemble_json(const EnsembleOutcome& outcome, bool all) {
  const Ensemble& found = outcome.ensemble;
  std::vector<double> deviations;
  std::vector<double> scores;
  auto means = nlohmann::ordered_json::array();
  auto stds = nlohmann::ordered_json::array();
  for (Index t = 0; t < std::ssize(found.times); ++t) {
    deviations.push_back(mean_deviation(found, t));
    if (const auto score = score_at(outcome, t)) scores.push_back(*score);
    auto mean = nlohmann::ordered_json::array();
    std::vector<double> deviation_of;
    for (Index i = 0; i < found.variance.cols(); ++i) {
      const double* row = found.mean.view().row(t) + i * found.outputs;
      mean.push_back(std::vector<double>(row, row + found.outputs));
      deviation_of.push_back(deviation(found, t, i));
    }
    means.push_back(std::move(mean));
    stds.push_back(deviation_of);
  }
  nlohmann::ordered_json json{{"times", times_json(found.times)}, {"mean_std", deviations}};
  if (!scores.empty()) json[outcome.train.labels.empty() ? "squared_error" : "accuracy"] = scores;
  if (all) {
    json["mean"] = std::move(means);
    json["std"] = std::move(stds);
  }
  return json;
}

/// Writes CSV with a row per time and sample, or NPZ or HDF5 with the arrays times, mean (times × samples × outputs),
/// std and, if computed, covariance (times × samples × samples).
void write_ensemble(const std::filesystem::path& path, const EnsembleOutcome& outcome,
                    const nlohmann::ordered_json& settings) {
  if (path.extension() == ".csv") {
    write_csv(sample_table(outcome), path);
    return;
  }
  const Ensemble& found = outcome.ensemble;
  const Index count = std::ssize(found.times);
  const Index samples = found.variance.cols();
  Matrix<double> deviations(count, samples, Content::unset);
  for (Index t = 0; t < count; ++t) {
    for (Index i = 0; i < samples; ++i) deviations(t, i) = deviation(found, t, i);
  }
  std::vector<NamedArray> arrays{list_array("times", found.times),
                                 {"mean", found.mean.view(), {count, samples, found.outputs}},
                                 {"std", deviations.view(), {}}};
  if (found.covariance.rows() > 0) {
    arrays.push_back({"covariance", found.covariance.view(), {count, samples, samples}});
  }
  write_arrays(path, arrays, settings);
}

/// Writes the page: deviations by time and, for samples with one feature, the mean with two standard deviations.
void write_ensemble_page(const std::filesystem::path& path, const EnsembleOutcome& outcome,
                         const nlohmann::ordered_json& settings) {
  Page page(fmt::format("Ensemble on {}", outcome.train.name),
            "Outputs of infinitely wide networks with random initial weights, trained by gradient flow on the squared "
            "loss.");
  const Index count = std::ssize(outcome.ensemble.times);
  if (outcome.points.shape.size() == 1) {
    std::vector<Illustration> bands;
    const Index shown = std::min(count, most_bands);
    for (Index k = 0; k < shown; ++k) bands.push_back(band(outcome, shown == 1 ? 0 : k * (count - 1) / (shown - 1)));
    page.section("Mean and two standard deviations").figures(bands);
  }
  page.section("Times").table(ensemble_table(outcome)).settings(settings).write(path);
}

void run_ensemble(const EnsembleChoice& choice) {
  (void)choice.options(nullptr);
  choice.common.check_report(true);
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
