#include "experiments/experiments.hpp"

#include "experiments/log_slope.hpp"
#include "experiments/tasks/digit_pair.hpp"
#include "experiments/tasks/mnist_task.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/labels/label_noise.hpp"
#include "widelimit/finite/training/targets.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Options, parsed and validated before any computation.
struct NoiseChoice {
  std::string network;
  std::vector<std::string> digits;
  Index samples = 0;
  double lambda = 0;
  std::vector<double> flips;
  std::vector<Index> widths;
};

/// Remaining fraction of the slowest mode after training, and the maximal number of steps.
constexpr double left_over = 1e-3;
constexpr double most_noise_steps = 1e6;

NoiseChoice noise_choice(const Setting& setting) {
  (void)Network::parse(setting.text("network"));
  return {.network = setting.text("network"),
          .digits = two_digits(setting),
          .samples = setting.count("samples", 4),
          .lambda = setting.positive("lambda"),
          .flips = setting.numbers("flips", 0, 0.5),
          .widths = setting.counts("widths", 1)};
}

/// Gradient descent that converges to the limit in the linear regime. Each mode μ of the kernel decays by
/// 1 − 2η(μ + λ) per step, for RDI and AUX; the largest row sum bounds all μ, the slowest mode has μ = 0.
struct Descent {
  double rate = 0;
  Index steps = 0;
};

Descent descent_of(const AnyMatrix& k, double lambda) {
  double largest = 0;
  std::visit(
      [&](const auto& matrix) {
        for (Index i = 0; i < matrix.rows(); ++i) {
          double sum = 0;
          for (Index j = 0; j < matrix.cols(); ++j) sum += std::fabs(static_cast<double>(matrix(i, j)));
          largest = std::max(largest, sum);
        }
      },
      k);
  const double steps = std::ceil(-std::log(left_over) * (largest + lambda) / lambda);
  if (steps > most_noise_steps) {
    fail(Code::usage, "--lambda {:g}: training would take {:.2g} steps; choose a larger λ", lambda, steps);
  }
  return {.rate = 0.5 / (largest + lambda), .steps = static_cast<Index>(steps)};
}

/// Returns the error rate of the sign on the test images.
double wrong_share(const Matrix<double>& g, const std::vector<Index>& labels) {
  Index wrong = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    wrong += (g(static_cast<Index>(i), 0) > 0) != (labels[i] == 1) ? 1 : 0;
  }
  return static_cast<double>(wrong) / static_cast<double>(labels.size());
}

/// Returns the root mean square difference over the test images.
double distance_between(const Matrix<double>& a, const Matrix<double>& b) {
  double sum = 0;
  for (Index i = 0; i < a.rows(); ++i) sum += (a(i, 0) - b(i, 0)) * (a(i, 0) - b(i, 0));
  return std::sqrt(sum / static_cast<double>(std::max<Index>(a.rows(), 1)));
}

/// Returns k(x,X)(H + λI)⁻¹ỹ on the test images; fit_ridge has ridge λ/2, since its squared loss has no ½.
Matrix<double> kernel_limit(const MnistTask& task, const Matrix<double>& y, double lambda, const Setting& setting) {
  const Fit fit = fit_ridge({view_of(task.k), setting.engine}, y.view(), {.lambda = 2 * lambda});
  if (!fit.summary.converged()) fail(Code::numerical, "the limit of infinite width: {}", fit.summary.message);
  return decision(fit, view_of(task.k_test), setting.engine);
}

/// Returns outputs on the test images after training on noisy targets. The objective ½Σ(f − ỹ)² + λ/2‖w − w₀‖² of the
/// works is half of Σ(f − ỹ)² + λ‖w − w₀‖², i.e. `init` with 2λ; `aux` uses √λ·b unchanged.
Matrix<double> noisy_net(const Setting& setting, const NoiseChoice& choice, const MnistTask& task,
                         const Matrix<double>& y, Regulariser regulariser, Index width) {
  stop_if_requested(setting.progress);
  const Descent descent = descent_of(task.k, choice.lambda);
  TrainOptions options = setting.training();
  options.width = width;
  options.regulariser = regulariser;
  options.lambda = regulariser == Regulariser::init ? 2 * choice.lambda : choice.lambda;
  options.rate = descent.rate;
  options.steps = descent.steps;
  options.centred = true;
  options.records = 2;
  options.record_outputs = false;
  const TrainedNetwork trained =
      train(Network::parse(choice.network), {.x = task.train.view(), .y = y.view()}, options, setting.engine);
  if (!trained.summary.finished()) fail(Code::numerical, "{}", trained.summary.message);
  return predict_outputs(trained, task.test.view(), setting.engine);
}

struct NamedRegulariser {
  Regulariser regulariser;
  const char* name;
};
constexpr std::array<NamedRegulariser, 2> held_back{{{Regulariser::init, "rdi"}, {Regulariser::aux, "aux"}}};

std::string percent_wrong(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// Measures the test error by the fraction of flipped labels, at the largest width.
void by_flips(const Setting& setting, const NoiseChoice& choice, const MnistTask& task, Outcome& outcome) {
  Part part{.heading = "Test error by the fraction of flipped labels",
            .table = {.columns = {"flipped", "of them", "limit, no ridge", "limit, ridge", "RDI net", "AUX net",
                                  "RDI to limit", "AUX to limit"}}};
  const Index width = *std::max_element(choice.widths.begin(), choice.widths.end());
  std::vector<Series> lines{{.name = "limit without ridge"}, {.name = "limit"}, {.name = "RDI"}, {.name = "AUX"}};
  Json json = Json::array();
  for (const double flip : choice.flips) {
    const std::vector<Index> labels = flip_labels(task.train.labels, 2, flip, setting.seed);
    Index flipped = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) flipped += labels[i] != task.train.labels[i] ? 1 : 0;
    const Matrix<double> y = class_targets(labels, 2, Loss{});
    const Matrix<double> limit = kernel_limit(task, y, choice.lambda, setting);
    std::vector<double> errors{wrong_share(kernel_limit(task, y, 0, setting), task.test.labels),
                               wrong_share(limit, task.test.labels)};
    std::vector<double> distances;
    for (const NamedRegulariser& each : held_back) {
      const Matrix<double> g = noisy_net(setting, choice, task, y, each.regulariser, width);
      errors.push_back(wrong_share(g, task.test.labels));
      distances.push_back(distance_between(g, limit));
    }
    part.table.rows.push_back({fmt::format("{:g}", flip), static_cast<std::int64_t>(flipped), percent_wrong(errors[0]),
                               percent_wrong(errors[1]), percent_wrong(errors[2]), percent_wrong(errors[3]),
                               fmt::format("{:.3g}", distances[0]), fmt::format("{:.3g}", distances[1])});
    json.push_back(
        {{"flip", flip},
         {"flipped", flipped},
         {"error", {{"interpolation", errors[0]}, {"limit", errors[1]}, {"rdi", errors[2]}, {"aux", errors[3]}}},
         {"distance", {{"rdi", distances[0]}, {"aux", distances[1]}}}});
    for (std::size_t s = 0; s < lines.size(); ++s) {
      lines[s].x.push_back(flip);
      lines[s].y.push_back(errors[s]);
    }
    outcome.sentence = fmt::format(
        "At {:g} % flipped labels the test error is {} without a ridge, {} in the limit with ridge, {} for the RDI and "
        "{} for the AUX network.",
        100 * flip, percent_wrong(errors[0]), percent_wrong(errors[1]), percent_wrong(errors[2]),
        percent_wrong(errors[3]));
  }
  const Descent descent = descent_of(task.k, choice.lambda);
  part.words = fmt::format(
      "MNIST {} and {}, {} training images, values in [0, 1], with randomly flipped labels, {} test images with true "
      "labels; {} of width {}, f − f₀ trained by {} steps of size {:.3g}. Limit: k(x,X)(H + λI)⁻¹ỹ with λ = {:g}, and "
      "with λ = 0, which interpolates the wrong labels. To limit: root mean square difference on the test images. The "
      "work has no numbers for MNIST: it states that this ridge regression is the infinite-width limit for both "
      "regularisers (Theorem 5), and reports for ResNet-34 with AUX on CIFAR-10 92.31 % and 88.92 % at 20 % and 40 % "
      "noise, compared with 89.96 % and 85.92 % for early stopping.",
      choice.digits[0], choice.digits[1], task.train.count(), task.test.count(), choice.network, width, descent.steps,
      descent.rate, choice.lambda);
  if (setting.figures) {
    part.pictures.push_back({.figure = curves(lines, {.title = "Training on wrong labels",
                                                      .x_label = "fraction of flipped labels",
                                                      .y_label = "test error"})});
  }
  outcome.results["flips"] = json;
  outcome.parts.push_back(std::move(part));
}

/// Measures the distance to the limit by width, at the second of the flip fractions.
void by_widths(const Setting& setting, const NoiseChoice& choice, const MnistTask& task, Outcome& outcome) {
  const double flip = choice.flips[std::min<std::size_t>(1, choice.flips.size() - 1)];
  Part part{.heading = "Distance to the limit by width",
            .table = {.columns = {"width", "RDI to limit", "AUX to limit", "RDI to AUX"}}};
  const Matrix<double> y = class_targets(flip_labels(task.train.labels, 2, flip, setting.seed), 2, Loss{});
  const Matrix<double> limit = kernel_limit(task, y, choice.lambda, setting);
  std::vector<Series> lines{{.name = "RDI"}, {.name = "AUX"}};
  Json json = Json::array();
  for (const Index width : choice.widths) {
    std::array<Matrix<double>, 2> g;
    for (std::size_t r = 0; r < held_back.size(); ++r) {
      g[r] = noisy_net(setting, choice, task, y, held_back[r].regulariser, width);
      lines[r].x.push_back(static_cast<double>(width));
      lines[r].y.push_back(distance_between(g[r], limit));
    }
    const double apart = distance_between(g[0], g[1]);
    part.table.rows.push_back({static_cast<std::int64_t>(width), lines[0].y.back(), lines[1].y.back(), apart});
    json.push_back({{"width", width}, {"rdi", lines[0].y.back()}, {"aux", lines[1].y.back()}, {"rdi_to_aux", apart}});
  }
  outcome.results["widths"] = {{"flip", flip}, {"distances", json}};
  part.words =
      fmt::format("Root mean square differences on the test images, {:g} % of the labels flipped.", 100 * flip);
  if (choice.widths.size() > 1) {
    const std::array<double, 2> slopes{log_slope(lines[0].x, lines[0].y), log_slope(lines[1].x, lines[1].y)};
    part.words +=
        fmt::format(" Slopes in the width: {:.2f} (RDI) and {:.2f} (AUX); −½ is expected.", slopes[0], slopes[1]);
    outcome.results["widths"]["slopes"] = {{"rdi", slopes[0]}, {"aux", slopes[1]}};
  }
  if (setting.figures) {
    part.pictures.push_back({.figure = curves(lines, {.title = "Distance to the limit",
                                                      .x_label = "width",
                                                      .y_label = "root mean square difference on test images",
                                                      .x_scale = AxisScale::log,
                                                      .y_scale = AxisScale::log})});
  }
  outcome.parts.push_back(std::move(part));
}

}  // namespace

Experiment noisy_labels_rdi_aux() {
  return {.name = "noisy-labels-rdi-aux",
          .summary = "Networks regularised by RDI or AUX on flipped labels, compared with kernel ridge regression",
          .work = "Zhang 2024, Neural Tangent Kernel (lecture), Theorem 5: Hu, Li and Yu 2020 on noisy labels",
          .options = {{"network", "NET", "Network to train, whose NTK gives the limit", "fc:2", ""},
                      {"digits", "A,B", "The two digits to classify", "5,8", ""},
                      {"samples", "N", "Training images of both digits", "200", "500"},
                      {"lambda", "L", "Ridge of the limit", "0.3", "0.75"},
                      {"flips", "P,...", "Fractions of labels to flip", "0,0.2,0.4", "0,0.1,0.2,0.3,0.4"},
                      {"widths", "M,...", "Channels of every hidden layer; all flip fractions use the largest",
                       "64,128,256", "128,256,512,1024"}},
          .run = [](const Setting& setting) {
            const NoiseChoice choice = noise_choice(setting);
            const MnistTask task = mnist_task(setting, choice.network, choice.digits, choice.samples);
            Outcome outcome;
            by_flips(setting, choice, task, outcome);
            by_widths(setting, choice, task, outcome);
            outcome.timings.emplace_back("kernel", task.seconds);
            return outcome;
          }};
}

}  // namespace widelimit::experiment
