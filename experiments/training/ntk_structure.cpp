#include "experiments/experiments.hpp"

#include "widelimit/analysis/evolution/probe_set.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/finite/training/network_targets.hpp"
#include "widelimit/report/figures/evolution_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Options, parsed and validated before any computation.
struct StructureChoice {
  std::vector<double> variances;
  Index samples = 0;
  Index tests = 0;
  Index depth = 0;
  Index width = 0;
  Index probe = 0;
  Index epochs = 0;
};

StructureChoice structure_choice(const Setting& setting) {
  return {.variances = setting.numbers("variances", 0.1, 10),
          .samples = setting.count("samples", 20),
          .tests = setting.count("tests", 1),
          .depth = setting.count("depth", 1),
          .width = setting.count("width", 1),
          .probe = 10 * setting.count("probe", 1),
          .epochs = setting.count("epochs", 1)};
}

/// Returns the epochs of the work, 1, 10, 20, 50, 100, …, below the number of epochs.
std::vector<double> published_epochs(Index epochs) {
  std::vector<double> result;
  for (const double epoch : {1.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 3000.0}) {
    if (epoch < static_cast<double>(epochs)) result.push_back(epoch);
  }
  return result;
}

/// Initial standard deviation of biases, effectively 0; exactly 0 would remove the biases from the network.
constexpr double no_bias_yet = 1e-30;
constexpr double adam_rate = 1e-4;
constexpr double adam_epsilon = 1e-8;

EvolutionOptions structure_options(const Setting& setting, const StructureChoice& choice, Index samples) {
  EvolutionOptions options;
  options.train = setting.training();
  TrainOptions& train = options.train;
  train.width = choice.width;
  train.parameterisation = Parameterisation::standard;
  train.regulariser = Regulariser::none;
  train.rate = adam_rate;
  train.optimiser.kind = OptimiserKind::adam;
  // Our loss is the sum of squares, 2n times ½ of their mean; scaling ε like the gradients gives the same steps.
  train.optimiser.epsilon = adam_epsilon * 2 * static_cast<double>(samples);
  train.epochs = choice.epochs;
  options.at_epochs = published_epochs(choice.epochs);
  options.keep_kernels = setting.figures;
  return options;
}

Part structure_part(const Setting& setting, double variance, const Evolution& found, const ProbeSet& probe,
                    const std::vector<std::string>& names) {
  Part part{.heading = fmt::format("Variance {:g}", variance),
            .table = {.columns = {"epoch", "same/diag", "other/diag", "gap", "S(0,t)", "accuracy", "test accuracy"}}};
  for (const Checkpoint& point : found.checkpoints) {
    const double same = point.classes->same_ratio();
    const double other = point.classes->different_ratio();
    part.table.rows.push_back({static_cast<std::int64_t>(point.step), same, other, same - other, point.distance,
                               point.accuracy.value_or(0), point.test_accuracy.value_or(0)});
  }
  if (!setting.figures) return part;
  part.pictures = evolution_curves(found);
  const auto slides = kernel_slides(found, class_bands(probe.classes, names));
  part.pictures.push_back(slides.front().second);
  part.pictures.push_back(slides.back().second);
  return part;
}

Outcome run_structure(const Setting& setting) {
  const StructureChoice choice = structure_choice(setting);
  DataRequest request{.train = "mnist:train", .test = "mnist:test"};
  request.limit = choice.samples;
  request.test_limit = choice.tests;
  request.scale = Scaling::byte;
  const TrainTest data = setting.load(request);
  const Loss loss;
  const NetworkTargets targets = network_targets(data, loss);
  const ProbeSet probe(data.train, data.train.class_names, loss, choice.probe);
  Outcome outcome;
  outcome.results["variances"] = Json::array();
  for (const double variance : choice.variances) {
    const Network network =
        Network::parse(fmt::format("fc:{}(w_std={:.17g}, b_std={:g})", choice.depth, std::sqrt(variance), no_bias_yet));
    const Evolution found = evolution(network, targets.with(data), probe.probe(),
                                      structure_options(setting, choice, data.train.count()), setting.engine);
    outcome.timings.emplace_back(fmt::format("variance {:g}", variance), found.seconds);
    Json json = evolution_json(found);
    json["variance"] = variance;
    outcome.results["variances"].push_back(std::move(json));
    if (!found.trained.summary.finished() && outcome.trouble.empty()) {
      outcome.trouble = fmt::format("variance {:g}: {}", variance, found.trained.summary.message);
    }
    const Checkpoint& last = found.checkpoints.back();
    outcome.sentence += fmt::format("{}variance {:g}: {:.3f} and {:.3f}, test accuracy {:.2f} %",
                                    outcome.sentence.empty() ? "" : "; ", variance, last.classes->same_ratio(),
                                    last.classes->different_ratio(), 100 * last.test_accuracy.value_or(0));
    outcome.parts.push_back(structure_part(setting, variance, found, probe, data.train.class_names));
  }
  outcome.sentence =
      "Means of the NTK within and between classes, relative to its diagonal, after training: " + outcome.sentence +
      ".";
  outcome.parts.back().words = fmt::format(
      "MNIST, {} training images in [0, 1], one-hot targets; {} hidden ReLU layers of width {}, standard "
      "parameterisation, biases initialised to 0, full-batch Adam with rate {:g} on half the mean squared loss. The "
      "NTK is traced over the ten outputs, on {} images of each class; same/diag includes self-pairs. The lecture has "
      "a figure without numbers, for 20 layers of width 300 on all 60,000 images up to epoch 3000: a larger gap "
      "between the two suggests a better network.",
      data.train.count(), choice.depth, choice.width, adam_rate, choice.probe / 10);
  return outcome;
}

}  // namespace

Experiment ntk_structure() {
  return {
      .name = "ntk-structure",
      .summary = "Means of the NTK within and between classes of MNIST during the training of deep networks",
      .work = "Zhang 2024, Neural Tangent Kernel (lecture), changes of the NTK structure: Seleznova and Kutyniok 2022",
      .options = {{"variances", "V,…", "Variances of the weights times fan-in", "1,2,2.2", ""},
                  {"samples", "N", "Training images", "1000", "60000"},
                  {"tests", "N", "Test images", "1000", "10000"},
                  {"depth", "L", "Hidden layers", "20", ""},
                  {"width", "M", "Width of the hidden layers", "100", "300"},
                  {"probe", "N", "Images of each class for the kernel", "10", ""},
                  {"epochs", "N", "Epochs, i.e. full-batch steps", "300", "3000"}},
      .precision = Precision::f32,
      .run = run_structure};
}

}  // namespace widelimit::experiment
