#include "experiments/experiments.hpp"

#include "experiments/log_slope.hpp"
#include "experiments/tasks/digit_pair.hpp"
#include "widelimit/analysis/hierarchy/kernel_at_time.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/report/figures/equivalence_figures.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Approximations that the kernel of the trained network is compared with.
constexpr std::array<const char*, 3> approximations{"K₀", "K₀ + K⁽³⁾ term", "K₀ + K⁽³⁾ + K⁽⁴⁾ terms"};
constexpr std::array<const char*, 3> stated_slopes{"-1", "-1", "-2 (Theorem 2.1, up to logarithms)"};

/// ‖K_t − approximation‖/‖K₀‖ in the Frobenius norm for each of `approximations`, over training and test entries.
struct Errors {
  std::array<double, 3> squares{};
  double start = 0;

  void add(const TimedKernel& k) {
    for (Index i = 0; i < k.start.rows() * k.start.cols(); ++i) {
      const double k0 = k.start.data()[i];
      const std::array<double, 3> guess{k0, k0 + k.first.data()[i], k.values.data()[i]};
      start += k0 * k0;
      for (std::size_t o = 0; o < squares.size(); ++o) {
        const double error = k.trained.data()[i] - guess[o];
        squares[o] += error * error;
      }
    }
  }
  [[nodiscard]] double relative(std::size_t order) const { return std::sqrt(squares[order] / start); }
};

/// Errors of all networks, one entry per network.
struct ErrorPoints {
  std::vector<double> widths;
  std::array<std::vector<double>, 3> errors;
  std::vector<std::string> remarks;
};

struct NthErrorChoice {
  Network network;
  std::vector<Index> widths;
  Index seeds, samples, tests;
  double time, tolerance;

  explicit NthErrorChoice(const Setting& setting)
      : network(Network::parse(setting.text("network"))),
        widths(setting.counts("widths", 1)),
        seeds(setting.count("seeds", 1)),
        samples(setting.count("samples", 2)),
        tests(setting.count("tests", 0)),
        time(setting.positive("time")),
        tolerance(setting.positive("tolerance")) {}
};

ErrorPoints measured(const Setting& setting, const NthErrorChoice& choice, const DigitSamples& digits) {
  ErrorPoints points;
  const SampleView x = digits.data.train.view();
  const MatrixView<const double> y{digits.y.data(), x.count(), 1, 1};
  const auto test = digits.data.test ? std::optional(digits.data.test->view()) : std::nullopt;
  const KernelAtTimeOptions options{
      .time = choice.time, .trained = true, .tolerance = choice.tolerance, .progress = setting.progress};
  for (const Index width : choice.widths) {
    for (Index k = 0; k < choice.seeds; ++k) {
      stop_if_requested(setting.progress);
      TrainOptions start{.width = width};
      start.rate = 1;
      start.steps = 0;
      start.seed = setting.seed + static_cast<std::uint64_t>(k);
      const TrainedNetwork network = train(choice.network, {x, y}, start, setting.engine);
      const KernelAtTime found = kernel_at_time(network, x, digits.y, test, options, setting.engine);
      Errors errors;
      errors.add(found.train);
      if (found.test) errors.add(*found.test);
      points.widths.push_back(static_cast<double>(width));
      for (std::size_t o = 0; o < approximations.size(); ++o) points.errors[o].push_back(errors.relative(o));
      points.remarks = found.remarks;
    }
  }
  return points;
}

/// Returns geometric means by width, since errors of single networks vary by factors.
std::vector<double> means(const ErrorPoints& points, std::size_t order, const NthErrorChoice& choice) {
  std::vector<double> result;
  for (std::size_t w = 0; w < choice.widths.size(); ++w) {
    double sum = 0;
    for (Index k = 0; k < choice.seeds; ++k) {
      sum += std::log(points.errors[order][w * usize(choice.seeds) + usize(k)]);
    }
    result.push_back(std::exp(sum / static_cast<double>(choice.seeds)));
  }
  return result;
}

Illustration error_figure(const ErrorPoints& points, const NthErrorChoice& choice) {
  std::vector<Series> series;
  const std::vector<double> widths(choice.widths.begin(), choice.widths.end());
  for (std::size_t o = 0; o < approximations.size(); ++o) {
    series.push_back({.name = approximations[o], .x = widths, .y = means(points, o, choice)});
  }
  Illustration shown;
  shown.figure = curves(series, {.title = "Error by width",
                                 .x_label = "width",
                                 .y_label = "relative error",
                                 .x_scale = AxisScale::log,
                                 .y_scale = AxisScale::log});
  shown.caption = "Distance of the kernel of the trained network from each approximation, geometric means over seeds.";
  return shown;
}

Outcome run_nth_error(const Setting& setting) {
  const NthErrorChoice choice(setting);
  const DigitSamples digits = digit_samples(setting, choice.samples, choice.tests);
  const ErrorPoints points = measured(setting, choice, digits);
  Outcome outcome;
  Part part{.heading = "Error of the expansion by width",
            .table = {.columns = {"approximation of K_t", "slope [95 %]", "stated"}}};
  for (const Index width : choice.widths) part.table.columns.push_back(fmt::format("width {}", width));
  outcome.results["approximations"] = Json::array();
  for (std::size_t o = 0; o < approximations.size(); ++o) {
    const auto line = log_line(points.widths, points.errors[o]);
    std::vector<Cell> row{approximations[o], slope_text(line), stated_slopes[o]};
    const std::vector<double> by_width = means(points, o, choice);
    for (const double value : by_width) row.emplace_back(fmt::format("{:.2e}", value));
    part.table.rows.push_back(std::move(row));
    Json entry{{"name", approximations[o]}, {"errors", points.errors[o]}, {"means", by_width}};
    write_slope(entry, line);
    outcome.results["approximations"].push_back(std::move(entry));
    if (o + 1 == approximations.size()) {
      outcome.sentence =
          fmt::format("Error of K̂_t from K₀, K⁽³⁾ and K⁽⁴⁾ of each network: slope {} in the width; -2 is stated.",
                      slope_text(line));
    }
  }
  part.words = fmt::format(
      "Network {}; {} and {} digits; gradient flow on Σ(y − f)² until t = {:g}. Errors are Frobenius norms over "
      "training and test entries relative to that of K₀, geometric means over {} networks per width; the slope is "
      "fitted to all networks.",
      setting.text("network"), choice.samples, choice.tests, choice.time, choice.seeds);
  for (const std::string& remark : points.remarks) part.words += fmt::format(" Note: {}.", remark);
  if (setting.figures) part.pictures.push_back(error_figure(points, choice));
  outcome.results["widths"] = points.widths;
  outcome.results["remarks"] = points.remarks;
  outcome.parts.push_back(std::move(part));
  return outcome;
}

}  // namespace

Experiment nth_error() {
  return {
      .name = "nth-error",
      .summary = "Decay of the error of the neural tangent hierarchy, truncated after K⁽⁴⁾, with the width",
      .work = "Chen, He and Su 2020, Label-Aware Neural Tangent Kernel, Theorem 2.1",
      .options = {{"network", "NET", "Network; the theorem assumes smooth activations", "dense tanh dense", ""},
                  {"digits", "A,B", "The two digits to classify", "3,8", ""},
                  {"samples", "N", "Training samples", "6", "16"},
                  {"tests", "N", "Test samples", "4", "8"},
                  {"widths", "M1,M2,…", "Widths of the networks", "64,128,256,512", "64,128,256,512,1024,2048,4096"},
                  {"seeds", "N", "Networks per width", "4", "8"},
                  {"time", "T", "Time of the gradient flow on the sum of squares", "1", ""},
                  {"tolerance", "E", "Error tolerance of an output per step of that flow", "1e-8", "1e-10"}},
      .run = run_nth_error};
}

}  // namespace widelimit::experiment
