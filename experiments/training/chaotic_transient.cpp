#include "experiments/experiments.hpp"

#include "experiments/tasks/cifar_images.hpp"
#include "widelimit/analysis/evolution/probe_set.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/network_targets.hpp"
#include "widelimit/report/figures/evolution_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Options, parsed and validated before any computation.
struct TransientChoice {
  std::vector<std::pair<std::string, std::string>> networks;  ///< name, text
  Index width = 0;
  Index samples = 0;
  Index tests = 0;
  Index probe = 0;
  Index batch = 0;
  Index epochs = 0;
  double rate = 0;  ///< on the mean loss
  std::vector<double> at;
  std::vector<double> spawn;
  Index tangent_samples = 0;
};

TransientChoice transient_choice(const Setting& setting) {
  TransientChoice choice{.networks = {{"CNN", setting.text("cnn")}, {"ResNet", setting.text("resnet")}},
                         .width = setting.count("width", 1),
                         .samples = setting.count("samples", 20),
                         .tests = setting.count("tests", 1),
                         .probe = setting.count("probe", 2),
                         .batch = setting.count("batch", 1),
                         .epochs = setting.count("epochs", 1),
                         .rate = setting.positive("rate"),
                         .at = setting.numbers("at", 0, 1e6),
                         .spawn = setting.numbers("spawn", 0, 1e6),
                         .tangent_samples = setting.count("tangent-samples", 2)};
  std::erase_if(choice.networks, [](const auto& network) { return network.second == "none"; });
  if (choice.networks.empty()) fail(Code::usage, "--cnn none --resnet none: no network to train; give at least one");
  for (const auto& [name, text] : choice.networks) (void)Network::parse(text);
  for (const std::vector<double>* times : {&choice.at, &choice.spawn}) {
    const bool beyond = std::any_of(times->begin(), times->end(),
                                    [&](double epoch) { return epoch > static_cast<double>(choice.epochs); });
    if (beyond || !std::is_sorted(times->begin(), times->end())) {
      fail(Code::usage, "--{}: give increasing epochs from 0 to {}", times == &choice.at ? "at" : "spawn",
           choice.epochs);
    }
  }
  return choice;
}

EvolutionOptions transient_options(const Setting& setting, const TransientChoice& choice, Index samples) {
  EvolutionOptions options;
  options.train = setting.training();
  TrainOptions& train = options.train;
  train.width = choice.width;
  train.parameterisation = Parameterisation::standard;
  train.loss.kind = LossKind::softmax;
  train.regulariser = Regulariser::none;
  train.rate = choice.rate / static_cast<double>(samples);
  train.optimiser.momentum = 0.9;
  train.batch = std::min(choice.batch, samples);
  train.epochs = choice.epochs;
  train.augmentation.flip = true;
  // Branch points are also checkpoints.
  options.at_epochs = choice.at;
  options.at_epochs.insert(options.at_epochs.end(), choice.spawn.begin(), choice.spawn.end());
  std::sort(options.at_epochs.begin(), options.at_epochs.end());
  for (const double epoch : choice.spawn) {
    const auto in_epoch = static_cast<double>(options.steps_in_epoch(samples));
    const auto step = static_cast<Index>(std::llround(epoch * in_epoch));
    if (options.branch_at.empty() || options.branch_at.back() < step) options.branch_at.push_back(step);
  }
  options.tangent = TangentOptions{.samples = choice.tangent_samples, .kernel = TangentKernel::trace, .descent = true};
  options.barrier = BarrierOptions{.points = 11};
  options.keep_kernels = setting.figures;
  return options;
}

/// Returns the mean velocity of the checkpoints whose interval ends in (from, to].
std::optional<double> mean_velocity(const Evolution& found, double from, double to) {
  double sum = 0;
  double count = 0;
  for (const Checkpoint& point : found.checkpoints) {
    if (!point.velocity || point.epoch <= from || point.epoch > to) continue;
    sum += *point.velocity;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

/// Returns the assumed end of the transient: three epochs, as in Fort et al., or a third of the training if shorter.
double transient_end(Index epochs) { return std::min(3.0, static_cast<double>(epochs) / 3); }

Part transient_part(const Setting& setting, const std::string& name, const Evolution& found, const ProbeSet& probe,
                    const std::vector<std::string>& classes) {
  Part part{.heading = name, .table = evolution_table(found)};
  if (setting.figures && found.checkpoints.size() > 1) {
    part.pictures.push_back(evolution_timeline(found));
    for (Illustration& figure : branch_curves(found)) part.pictures.push_back(std::move(figure));
    for (Illustration& figure : evolution_curves(found)) part.pictures.push_back(std::move(figure));
    const auto slides = kernel_slides(found, class_bands(probe.classes, classes));
    part.pictures.push_back(slides.front().second);
    part.pictures.push_back(slides.back().second);
  }
  return part;
}

Outcome run_transient(const Setting& setting) {
  const TransientChoice choice = transient_choice(setting);
  CifarImages images = cifar_images(setting, choice.samples, choice.tests);
  TrainTest data{.train = std::move(images.train), .test = std::move(images.test)};
  const EvolutionOptions options = transient_options(setting, choice, data.train.count());
  const NetworkTargets targets = network_targets(data, options.train.loss);
  const ProbeSet probe(*data.test, data.train.class_names, options.train.loss, choice.probe);
  const double early = transient_end(choice.epochs);
  Outcome outcome;
  outcome.results["networks"] = Json::array();
  for (const auto& [name, text] : choice.networks) {
    const Evolution found = evolution(Network::parse(text), targets.with(data), probe.probe(), options, setting.engine);
    outcome.timings.emplace_back(name, found.seconds);
    Json json = evolution_json(found);
    json["name"] = name;
    json["network"] = text;
    outcome.parts.push_back(transient_part(setting, name, found, probe, data.train.class_names));
    Part branches{.heading = name + ": tangent training and error barriers", .table = branch_table(found)};
    const auto first = mean_velocity(found, 0, early);
    const auto later = mean_velocity(found, early, static_cast<double>(choice.epochs));
    if (first && later) {
      json["velocity_before"] = *first;
      json["velocity_after"] = *later;
      outcome.sentence += fmt::format("{}{}: velocity {:.2g} per epoch to epoch {:.2g}, then {:.2g}",
                                      outcome.sentence.empty() ? "" : "; ", name, *first, early, *later);
    }
    if (!found.trained.summary.finished() && outcome.trouble.empty()) {
      outcome.trouble = fmt::format("{}: {}", name, found.trained.summary.message);
    }
    for (const std::string& remark : found.remarks) branches.words += remark + ". ";
    outcome.results["networks"].push_back(std::move(json));
    outcome.parts.push_back(std::move(branches));
  }
  outcome.sentence += ".";
  outcome.parts.back().words += fmt::format(
      "CIFAR-10, {} training and {} test images, channels standardised; width {}, no normalisation layers, softmax "
      "loss, batches of {}, momentum 0.9, rate {:g} on the mean loss, random mirroring. The kernel is traced over "
      "outputs, on {} test images. Tangent: the network linearised at the checkpoint, trained in closed form on the "
      "squared loss of the first {} images with the trace kernel; linearised: trained by the remaining steps. Barrier: "
      "error barrier between two children trained on different batches. The lecture (Fort et al. 2020, ResNet-20 and "
      "others on all of CIFAR-10, 200 epochs) has figures without numbers: a chaotic transient of 2 to 3 epochs "
      "determines the final basin and learns a useful kernel; afterwards the kernel moves at a constant velocity.",
      data.train.count(), data.test->count(), choice.width, choice.batch, choice.rate, choice.probe,
      std::min(choice.tangent_samples, data.train.count()));
  return outcome;
}

}  // namespace

Experiment chaotic_transient() {
  return {.name = "chaotic-transient",
          .summary = "The NTK of convolutional networks in the first epochs on CIFAR-10: distance, velocity, branches",
          .work = "Zhang 2024, Neural Tangent Kernel (lecture), chaotic transient: Fort et al. 2020",
          .options = {{"cnn", "NET", "Convolutional network, or none",
                       "repeat(3){ conv(w_std=1.4142) relu avg_pool } flatten dense", "myrtle5"},
                      {"resnet", "NET", "Residual network, or none",
                       "conv(strides=2) repeat(2){ residual{ relu conv relu conv } } relu global_avg_pool dense",
                       "resnet:3(w_std=1)"},
                      {"width", "M", "Channels of every layer", "8", "64"},
                      {"samples", "N", "Training images", "1000", "50000"},
                      {"tests", "N", "Test images", "500", "10000"},
                      {"probe", "N", "Test images for the kernel", "50", "100"},
                      {"batch", "N", "Batch size", "25", "128"},
                      {"epochs", "N", "Epochs", "5", "200"},
                      {"rate", "ETA", "Learning rate on the mean loss", "0.01", "0.05"},
                      {"at", "E,…", "Checkpoints, in epochs", "0.1,0.2,0.5,1,1.5,2,3,4",
                       "0.05,0.1,0.2,0.5,1,2,3,4,5,7,10,15,20,30,50,75,100,150"},
                      {"spawn", "E,…", "Checkpoints of tangent training and children", "0,1,2", "0,1,2,3,5,10,30"},
                      {"tangent-samples", "N", "Images for closed-form tangent training", "500", "2000"}},
          .precision = Precision::f32,
          .run = run_transient};
}

}  // namespace widelimit::experiment
