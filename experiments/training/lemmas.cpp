#include "experiments/experiments.hpp"

#include "experiments/log_slope.hpp"
#include "experiments/tasks/unit_pair.hpp"
#include "widelimit/analysis/equivalence/line_fit.hpp"
#include "widelimit/analysis/spectrum/kernel_spectrum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/training/targets.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/report/figures/equivalence_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Options, parsed and validated before any computation.
struct LemmasChoice {
  std::string set;
  std::vector<std::string> activations;
  Index samples = 0;
  std::vector<Index> widths;
  Index seeds = 0;
  double time = 0;  ///< of the flow, in units of 1/λ₁
  Index steps = 0;
};

/// Quantities of one network that the lemmas bound.
struct LemmaRun {
  Index width = 0;
  double start = 0;     ///< ‖H(0) − H*‖_F/‖H*‖_F
  double moved = 0;     ///< ‖H(t) − H(0)‖_F/‖H*‖_F
  double unit = 0;      ///< max_r ‖w_r(t) − w_r(0)‖
  double distance = 0;  ///< ‖w(t) − w(0)‖
};

/// A quantity with its theoretical slopes.
struct LemmaQuantity {
  const char* name;
  const char* key;
  double LemmaRun::*value;
  const char* bound;  ///< bound of the lemma
  const char* erf;    ///< by power counting [docs/theory/spectrum.md]
  const char* relu;
};
constexpr std::array<LemmaQuantity, 4> quantities{
    {{"|H(0) - H*|", "start", &LemmaRun::start, "-1/2 (Lemma 2)", "-1/2", "-1/2"},
     {"|H(t) - H(0)|", "moved", &LemmaRun::moved, "-1/2 (Lemma 3)", "-1", "-3/4"},
     {"largest |w_r(t) - w_r(0)|", "unit", &LemmaRun::unit, "-1/2", "-1/2", "-1/2"},
     {"|w(t) - w(0)|", "distance", &LemmaRun::distance, "0", "0", "0"}}};

std::vector<std::string> requested_activations(const Setting& setting) {
  std::vector<std::string> names = setting.words("activations");
  for (const std::string& name : names) (void)Network::parse(fmt::format("dense {} dense", name));
  return names;
}

double distance_of(const Matrix<double>& a, const Matrix<double>& b) {
  double sum = 0;
  for (Index i = 0; i < a.rows() * a.cols(); ++i) sum += (a.data()[i] - b.data()[i]) * (a.data()[i] - b.data()[i]);
  return std::sqrt(sum);
}

/// Returns the largest change of a hidden weight vector w_r, a column of the first matrix.
double largest_column(const Architecture& architecture, const Parameters<double>& a, const Parameters<double>& b) {
  const MatrixView<const double> now = a.slots.front().matrix(architecture.slots.front());
  const MatrixView<const double> then = b.slots.front().matrix(architecture.slots.front());
  std::vector<double> squares(usize(now.cols), 0.0);
  for (Index i = 0; i < now.rows; ++i) {
    for (Index r = 0; r < now.cols; ++r) squares[usize(r)] += (now(i, r) - then(i, r)) * (now(i, r) - then(i, r));
  }
  return std::sqrt(*std::max_element(squares.begin(), squares.end()));
}

/// H* in float64, its norm, the rate η for ½‖f − y‖², and the targets ±1.
struct LemmaTask {
  UnitPair pair;
  Matrix<double> limit;
  double norm = 0;
  double rate = 0;
  Matrix<double> y;
};

LemmaTask lemma_task(const Setting& setting, const LemmasChoice& choice, const std::string& activation) {
  LemmaTask task{.pair = unit_pair(setting, choice.set, activation, choice.samples, 0), .limit = {}, .y = {}};
  const Index n = task.pair.data.train.count();
  task.limit = Matrix<double>(n, n, Content::unset);
  std::visit([&](const auto& k) { std::copy_n(k.data(), n * n, task.limit.data()); }, task.pair.k);
  task.norm = distance_of(task.limit, Matrix<double>(n, n));
  const KernelSpectrum spectrum(GramMatrix(view_of(task.pair.k), setting.engine));
  task.rate = choice.time / (spectrum.eigenvalues().front() * static_cast<double>(choice.steps));
  task.y = class_targets(task.pair.data.train.labels, 2, {.kind = LossKind::squared});
  return task;
}

LemmaRun run_of(const Setting& setting, const LemmasChoice& choice, const LemmaTask& task, Index width, Index draw) {
  stop_if_requested(setting.progress);
  TrainOptions options;
  options.width = width;
  options.regulariser = Regulariser::none;
  options.rate = task.rate / 2;  // the squared loss of `train` has no ½
  options.steps = choice.steps;
  options.centred = true;
  options.seed = setting.seed + static_cast<std::uint64_t>(draw);
  options.records = 2;
  options.record_outputs = false;
  options.memory = setting.memory;
  options.progress = setting.progress;
  const SampleView x = task.pair.data.train.view();
  const TrainedNetwork trained = train(task.pair.network, {.x = x, .y = task.y.view()}, options, setting.engine);
  if (!trained.summary.finished()) fail(Code::numerical, "width {}: {}", width, trained.summary.message);
  const auto& before = std::get<Parameters<double>>(trained.start);
  const auto& after = std::get<Parameters<double>>(trained.parameters);
  const Tensor<double> samples = read_samples<double>(x, trained.architecture.input);
  const NtkOptions how{.progress = setting.progress};
  const Matrix<double> start = empirical_ntk(trained.architecture, before, samples, samples, how, setting.engine);
  const Matrix<double> end = empirical_ntk(trained.architecture, after, samples, samples, how, setting.engine);
  return {.width = width,
          .start = distance_of(start, task.limit) / task.norm,
          .moved = distance_of(end, start) / task.norm,
          .unit = largest_column(trained.architecture, after, before),
          .distance = trained.record.distance.back()};
}

std::optional<LineFit> slope_of(const std::vector<LemmaRun>& runs, double LemmaRun::*value) {
  std::vector<double> x;
  std::vector<double> y;
  for (const LemmaRun& run : runs) {
    if (!(run.*value > 0)) continue;
    x.push_back(std::log(static_cast<double>(run.width)));
    y.push_back(std::log(run.*value));
  }
  return fit_line(x, y);
}

double mean_at(const std::vector<LemmaRun>& runs, Index width, double LemmaRun::*value) {
  double sum = 0;
  Index count = 0;
  for (const LemmaRun& run : runs) {
    if (run.width != width) continue;
    sum += run.*value;
    ++count;
  }
  return sum / static_cast<double>(std::max<Index>(count, 1));
}

void one_activation(const Setting& setting, const LemmasChoice& choice, const std::string& activation,
                    Outcome& outcome) {
  const LemmaTask task = lemma_task(setting, choice, activation);
  std::vector<LemmaRun> runs;
  for (const Index width : choice.widths) {
    for (Index draw = 0; draw < choice.seeds; ++draw) runs.push_back(run_of(setting, choice, task, width, draw));
  }
  Part part{.heading = fmt::format("{}, {} images of {}", activation, task.pair.data.train.count(), choice.set)};
  part.table.columns = {"by width", "slope [95 %]", "bounded by", "expected"};
  for (const Index width : choice.widths) part.table.columns.push_back(fmt::format("{}", width));
  Json json = Json::object();
  std::vector<Series> lines;
  for (const LemmaQuantity& quantity : quantities) {
    const auto slope = slope_of(runs, quantity.value);
    const std::string expected = activation == "erf" ? quantity.erf : activation == "relu" ? quantity.relu : "";
    std::vector<Cell> row{quantity.name, slope_text(slope), quantity.bound, expected};
    Series line{.name = quantity.name};
    Json one = Json::object();
    write_slope(one, slope);
    for (const Index width : choice.widths) {
      const double mean = mean_at(runs, width, quantity.value);
      row.emplace_back(mean);
      line.x.push_back(static_cast<double>(width));
      line.y.push_back(mean);
    }
    one["means"] = line.y;
    json[quantity.key] = std::move(one);
    part.table.rows.push_back(std::move(row));
    lines.push_back(std::move(line));
    if (quantity.value == &LemmaRun::start || quantity.value == &LemmaRun::moved) {
      outcome.sentence += fmt::format("{}{}, {}: slope {}.", outcome.sentence.empty() ? "" : " ", activation,
                                      quantity.name, slope_text(slope));
    }
  }
  part.words = fmt::format(
      "Frobenius norms, relative to that of H*; {} per width, f - f0 trained for the time {:g}/λ₁ in "
      "{}; slopes are fitted to all networks.",
      counted(choice.seeds, "network"), choice.time, counted(choice.steps, "step"));
  if (setting.figures) {
    part.pictures.push_back({.figure = curves(lines, {.title = "By width, " + activation,
                                                      .x_label = "width",
                                                      .y_label = "mean over networks",
                                                      .x_scale = AxisScale::log,
                                                      .y_scale = AxisScale::log})});
  }
  outcome.results[activation] = std::move(json);
  outcome.parts.push_back(std::move(part));
}

}  // namespace

Experiment lemmas() {
  return {.name = "lemmas",
          .summary = "Distance of the kernel to its limit and movement of kernel and weights in training, by width",
          .work = "Zhang 2024, Neural Tangent Kernel (lecture), Lemmas 2 and 3",
          .options = {{"sets", "S", "mnist or cifar10", "mnist", ""},
                      {"samples", "N", "Training images of the first two classes", "20", "50"},
                      {"activations", "A,…", "Activations of the hidden layer; the lemmas assume a smooth one",
                       "erf,relu", ""},
                      {"widths", "M,…", "Hidden units", "128,512,2048", "128,512,2048,8192"},
                      {"seeds", "N", "Networks per width", "6", "10"},
                      {"time", "T", "Training time in units of 1/λ₁", "5", ""},
                      {"steps", "N", "Training steps", "20", "50"}},
          .run = [](const Setting& setting) {
            const std::vector<std::string> sets = requested_sets(setting);
            if (sets.size() != 1) fail(Code::usage, "--sets {}: expected one set", setting.text("sets"));
            const LemmasChoice choice{.set = sets.front(),
                                      .activations = requested_activations(setting),
                                      .samples = setting.count("samples", 2),
                                      .widths = setting.counts("widths", 1),
                                      .seeds = setting.count("seeds", 1),
                                      .time = setting.positive("time"),
                                      .steps = setting.count("steps", 1)};
            if (choice.time > static_cast<double>(choice.steps)) {
              fail(Code::usage, "--time {}: step sizes above 1/λ₁ do not follow the flow; increase --steps",
                   setting.text("time"));
            }
            Outcome outcome;
            for (const std::string& activation : choice.activations) {
              one_activation(setting, choice, activation, outcome);
            }
            return outcome;
          }};
}

}  // namespace widelimit::experiment
