#include "experiments/experiments.hpp"

#include "experiments/log_slope.hpp"
#include "experiments/tasks/digit_pair.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/tangent/path_kernel.hpp"
#include "widelimit/finite/training/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Options, parsed and validated before any computation.
struct PathChoice {
  Network network;
  Network smooth;
  Index samples = 0;
  Index width = 0;
  double lambda = 0;
  double rate = 0;
  Index steps = 0;
  Index halvings = 0;
};

/// Limits the run time of the finest steps.
constexpr Index most_halvings = 12;

PathChoice path_choice(const Setting& setting) {
  PathChoice choice{.network = Network::parse(setting.text("network")),
                    .smooth = Network::parse(setting.text("smooth")),
                    .samples = setting.count("samples", 2),
                    .width = setting.count("width", 1),
                    .lambda = setting.positive("lambda"),
                    .rate = setting.positive("rate"),
                    .steps = setting.count("steps", 1),
                    .halvings = setting.count("halvings", 1)};
  if (choice.halvings > most_halvings) {
    fail(Code::usage, "--halvings {}: expected at most {}", choice.halvings, most_halvings);
  }
  return choice;
}

TrainOptions path_training(const Setting& setting, const PathChoice& choice, LossKind loss, Index finer) {
  TrainOptions options = setting.training();
  options.width = choice.width;
  options.loss.kind = loss;
  options.regulariser = Regulariser::output;
  options.lambda = choice.lambda;
  options.rate = choice.rate / static_cast<double>(finer);
  options.steps = choice.steps * finer;
  options.records = 2;
  options.record_outputs = false;
  return options;
}

/// Differences for one loss at all rates.
struct PathOrder {
  LossKind loss;
  std::vector<double> rates;
  std::vector<double> differences;

  [[nodiscard]] double slope() const { return log_slope(rates, differences); }
};

void add_path(Part& part, Json& json, const TrainOptions& options, const NetAsMachine& net) {
  const PathDifference& d = *net.difference;
  part.table.rows.push_back({std::string(to_string(options.loss.kind)), fmt::format("{:.3g}", options.rate.value()),
                             static_cast<std::int64_t>(options.steps), fmt::format("{:.3g}", d.train),
                             fmt::format("{:.3g}", d.test.value_or(0.0)), fmt::format("{:.3g}", d.absolute),
                             fmt::format("{:.3g}", d.moved), static_cast<std::int64_t>(net.machine.sign_changes)});
  json.push_back({{"loss", to_string(options.loss.kind)},
                  {"rate", options.rate.value()},
                  {"steps", options.steps},
                  {"train", d.train},
                  {"test", d.test.value_or(0.0)},
                  {"difference", d.largest()},
                  {"absolute", d.absolute},
                  {"moved", d.moved},
                  {"sign_changes", net.machine.sign_changes}});
}

PathOrder measure_order(const Setting& setting, const PathChoice& choice, const Network& network, const TrainTest& data,
                        LossKind loss, Part& part, Json& json) {
  PathOrder order{loss, {}, {}};
  const Matrix<double> y = class_targets(data.train.labels, std::ssize(data.train.class_names), Loss{loss});
  const TrainData given{.x = data.train.view(), .y = y.view(), .test = data.test->view()};
  for (Index halving = 0; halving <= choice.halvings; ++halving) {
    stop_if_requested(setting.progress);
    const TrainOptions options = path_training(setting, choice, loss, Index{1} << halving);
    const NetAsMachine net = train_as_kernel_machine(network, given, options, setting.engine);
    if (!net.difference) fail(Code::numerical, "{}: {}", to_string(loss), net.trained.summary.message);
    add_path(part, json, options, net);
    order.rates.push_back(options.rate.value());
    order.differences.push_back(std::max(net.difference->largest(), 1e-300));
  }
  return order;
}

/// Runs all losses for one network; adds a part, the results under `name`, and the slopes to the sentence.
void add_network(const Setting& setting, const PathChoice& choice, const Network& network, const std::string& name,
                 const TrainTest& data, Outcome& outcome) {
  Part part{
      .heading = "Difference between network and kernel machine by step size: " + network.to_text(),
      .table = {.columns = {"loss", "rate", "steps", "train", "test", "with |l'|", "f moved by", "sign changes"}}};
  Json paths = Json::array();
  Json slopes = Json::object();
  std::vector<Series> lines;
  std::string found;
  for (const LossKind loss : {LossKind::logistic, LossKind::hinge, LossKind::squared}) {
    const PathOrder order = measure_order(setting, choice, network, data, loss, part, paths);
    const std::string loss_name(to_string(loss));
    slopes[loss_name] = order.slope();
    found += fmt::format("{}{} {:.3f}", found.empty() ? "" : ", ", loss_name, order.slope());
    lines.push_back({.name = loss_name, .x = order.rates, .y = order.differences});
  }
  part.words = fmt::format("Orders of convergence of the largest difference in the step size: {}.", found);
  if (setting.figures) {
    part.pictures.push_back({.figure = curves(lines, {.title = "Network and kernel machine",
                                                      .x_label = "step size",
                                                      .y_label = "largest difference",
                                                      .x_scale = AxisScale::log,
                                                      .y_scale = AxisScale::log}),
                             .caption = "Slope 1 corresponds to first order in the step size."});
  }
  outcome.results[name] = {{"network", network.to_text()}, {"paths", paths}, {"slopes", slopes}};
  outcome.sentence += fmt::format("{}{}: {}", outcome.sentence.empty() ? "" : "; ", network.to_text(), found);
  outcome.parts.push_back(std::move(part));
}

Outcome run_every_net(const Setting& setting) {
  const PathChoice choice = path_choice(setting);
  const TrainTest data = first_two_classes(setting, "mnist", Scaling::byte, choice.samples, choice.samples);
  Outcome outcome;
  add_network(setting, choice, choice.network, "network", data, outcome);
  add_network(setting, choice, choice.smooth, "smooth", data, outcome);
  outcome.sentence =
      "Order of the difference in the step size, 1 if the theorem of the flow holds: " + outcome.sentence + ".";
  outcome.parts.back().words += fmt::format(
      "\n\nmax |f_T − (Σ aᵢK + b)| on {} training and {} test images of MNIST 0 and 1, values in [0, 1]; width {}, "
      "regulariser output, λ = {:g}, time {:g}. Theorem 4.1 states equality for the flow, i.e. step size 0, if no "
      "derivative l' of the loss changes sign: the difference must be proportional to the step size. If signs change, "
      "−aᵢl' replaces |l'|; the literal theorem is in column \"with |l'|\". The theorem also needs a derivative of f "
      "along the path: if a relu of a training image stays at its kink, steps oscillate across the kink, and a "
      "difference remains for any step size.",
      data.train.count(), data.test->count(), choice.width, choice.lambda,
      choice.rate * static_cast<double>(choice.steps));
  return outcome;
}

}  // namespace

Experiment every_net_is_a_kernel_machine() {
  return {.name = "every-net-is-a-kernel-machine",
          .summary = "A trained network as a kernel machine, and their difference by step size",
          .work = "Chen et al. 2021, On the Equivalence between Neural Network and Support Vector Machine, Theorem 4.1",
          .options = {{"network", "NET", "Network to train", "fc:2", ""},
                      {"smooth", "NET", "A second network, with smooth activations", "dense erf dense erf dense", ""},
                      {"samples", "N", "Number of training images, and of test images, of 0 and 1", "32", "128"},
                      {"width", "M", "Channels of every hidden layer", "64", "256"},
                      {"lambda", "L", "Weight of the regulariser", "1", ""},
                      {"rate", "ETA", "Largest step size", "0.004", "0.0002"},
                      {"steps", "N", "Steps of the largest size", "25", "100"},
                      {"halvings", "N", "Number of halvings of the step size", "3", "4"}},
          .run = run_every_net};
}

}  // namespace widelimit::experiment
