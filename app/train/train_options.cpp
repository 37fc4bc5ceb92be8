#include "app/train/train_options.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/finite/tangent/path_kernel.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace widelimit::app {

namespace {

constexpr const char* training_group = "Training";
constexpr const char* optimiser_group = "Optimiser";

std::string regulariser_help() {
  std::string help = "What holds the weights back, beside the sum of losses:";
  for (const Regulariser each :
       {Regulariser::none, Regulariser::output, Regulariser::weights, Regulariser::init, Regulariser::aux}) {
    help += fmt::format("\n{}: {}", to_string(each), words(each));
  }
  return help;
}

/// How steps are made of gradients, and how long they are.
void add_optimiser_options(CLI::App& verb, TrainChoice& choice) {
  Optimiser& optimiser = choice.numbers.optimiser;
  LearningSchedule& schedule = choice.numbers.schedule;
  const auto word = [&](const char* name, std::string& value, const char* words, const char* type) {
    verb.add_option(name, value, words)->type_name(type)->capture_default_str()->group(optimiser_group);
  };
  const auto number = [&](const char* name, double& value, const char* words, const char* type) {
    verb.add_option(name, value, words)->type_name(type)->capture_default_str()->group(optimiser_group);
  };
  verb.add_option("--epochs", choice.numbers.epochs, "Passes over all samples, in place of --steps")
      ->type_name("N")
      ->excludes(verb.get_option("--steps"))
      ->group(optimiser_group);
  word("--optimiser", choice.optimiser,
       "sgd (plain, or with --momentum), nesterov, adam, or adamw (weight decay beside the gradient)", "HOW");
  number("--momentum", optimiser.momentum, "sgd, nesterov: fraction of the previous step that is added to the next",
         "MU");
  number("--beta1", optimiser.beta1, "adam, adamw: what is kept of the mean of gradients", "B");
  number("--beta2", optimiser.beta2, "adam, adamw: what is kept of the mean of squared gradients", "B");
  number("--adam-epsilon", optimiser.epsilon, "adam, adamw: added to the root of that mean", "E");
  number("--weight-decay", optimiser.weight_decay, "δ of δ/2·‖w‖² over all trained weights, beside the regulariser",
         "D");
  word("--schedule", choice.schedule, "Learning rate along the steps: constant, step or cosine", "HOW");
  number("--warmup", schedule.warmup, "Share of all steps in which the rate rises", "SHARE");
  verb.add_option("--milestones", schedule.milestones, "step: shares of all steps at which the rate drops")
      ->type_name("S1,S2,…")
      ->delimiter(',')
      ->capture_default_str()
      ->group(optimiser_group);
  number("--rate-drop", schedule.drop, "step: what the rate is multiplied by there", "F");
  number("--last-rate", schedule.last, "cosine: share of the rate that is left at the end", "SHARE");
}

/// Files of a training that stops and goes on.
void add_checkpoint_options(CLI::App& verb, TrainChoice& choice) {
  verb.add_option("--checkpoint", choice.checkpoint,
                  "File of the network with the state of its training, written again and again")
      ->type_name("NET.h5")
      ->group(training_group);
  verb.add_option("--checkpoint-every", choice.numbers.checkpoint_every,
                  "Steps between two checkpoints; a tenth of all unless given")
      ->type_name("N")
      ->group(training_group);
  verb.add_option(
          "--from", choice.from,
          "Go on with the training of this checkpoint, with the same options and data; of a network that --out wrote, "
          "begin a new training with its weights")
      ->type_name("NET.h5")
      ->group(training_group);
}

}  // namespace

TrainOptions TrainChoice::options() const {
  TrainOptions result = numbers;
  if (widths.size() == 1) {
    result.width = widths.front();
  } else {
    result.layer_widths = widths;
  }
  result.parameterisation = parse_parameterisation(parameterisation);
  result.initialisation = parse_initialisation(initialisation);
  result.loss.kind = parse_loss(loss);
  result.regulariser = parse_regulariser(regulariser);
  result.optimiser.kind = parse_optimiser(optimiser);
  result.schedule.kind = parse_learning_schedule(schedule);
  result.precision = parse_precision(common.precision);
  result.seed = common.seed;
  result.memory = common.memory_limit();
  if (numbers.checkpoint_every > 0 && !checkpoint) {
    fail(Code::usage, "--checkpoint-every {} says when to write, not where; add --checkpoint FILE.h5",
         numbers.checkpoint_every);
  }
  if (as_kernel_machine && from) {
    fail(Code::usage, "--from: the kernel of a path is summed from its first step on; leave out --as-kernel-machine");
  }
  result.validate();
  if (as_kernel_machine) require_path_machine(result);
  return result;
}

void add_training_options(CLI::App& verb, TrainChoice& choice) {
  TrainOptions& numbers = choice.numbers;
  const auto number = [&](const char* name, auto& value, const char* words, const char* type) {
    verb.add_option(name, value, words)->type_name(type)->capture_default_str()->group(training_group);
  };
  verb.add_option("--loss", choice.loss, "squared, hinge, squared-hinge, insensitive, logistic or softmax")
      ->type_name("LOSS")
      ->capture_default_str()
      ->group(training_group);
  number("--epsilon", numbers.loss.epsilon, "insensitive: errors up to here cost nothing", "E");
  verb.add_option("--regulariser", choice.regulariser, regulariser_help())
      ->type_name("R")
      ->capture_default_str()
      ->group(training_group);
  number("--lambda", numbers.lambda, "Weight λ of the regulariser", "L");
  verb.add_option("--rate", numbers.rate, "Learning rate, of a flow the size of its first step; else a stable one")
      ->type_name("ETA")
      ->group(training_group);
  number("--steps", numbers.steps, "Number of steps; of a flow, the most", "N");
  number("--batch", numbers.batch, "Samples of a step, each counted n/batch times; 0 is all", "N");
  verb.add_option("--record-steps", numbers.record_at,
                  "Look at these steps, and at the first and the last, in place of --records")
      ->type_name("T1,T2,…")
      ->delimiter(',')
      ->group(training_group);
}

void add_descent_options(CLI::App& verb, TrainChoice& choice) {
  TrainOptions& numbers = choice.numbers;
  verb.add_option("--network", choice.network, "The network: text, preset, JSON, or a file of one")
      ->type_name("NET")
      ->required()
      ->group(training_group);
  verb.add_option("--width", choice.widths,
                  "Channels of every hidden layer, or of each dense, conv and attention layer before the last")
      ->type_name("M1,M2,…")
      ->delimiter(',')
      ->capture_default_str()
      ->group(training_group);
  add_training_options(verb, choice);
  add_optimiser_options(verb, choice);
  verb.add_flag("--centred", numbers.centred, "Train f - f0, the network minus what it was at the start")
      ->group(training_group);
  verb.add_option("--parameterisation", choice.parameterisation,
                  "ntk (scales stand outside the weights) or standard (inside)")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(training_group);
  verb.add_option("--initialisation", choice.initialisation,
                  "normal, uniform (of the same variance), or pytorch (as its layers start; standard)")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(training_group);
  verb.add_flag("--flip", numbers.augmentation.flip, "Mirror images at random in every step")->group(training_group);
  verb.add_option("--crop", numbers.augmentation.crop, "Move images at random by up to N pixels in every step")
      ->type_name("N")
      ->capture_default_str()
      ->group(training_group);
}

void add_train_options(CLI::App& verb, TrainChoice& choice) {
  TrainOptions& numbers = choice.numbers;
  const auto number = [&](const char* name, auto& value, const char* words, const char* type) {
    verb.add_option(name, value, words)->type_name(type)->capture_default_str()->group(training_group);
  };
  add_descent_options(verb, choice);
  number("--flow", numbers.flow_time, "Follow the gradient flow to this time by steps of their own size; 0 is off",
         "T");
  number("--tolerance", numbers.tolerance, "Error that a step of a flow may make in an output", "TOL");
  verb.add_flag("--linearised", numbers.linearised, "Train the network linearised at its start")->group(training_group);
  verb.add_flag("--as-kernel-machine", choice.as_kernel_machine,
                "Write the trained network as a kernel machine and tell how far the two are apart (regulariser output)")
      ->group(training_group);
  number("--records", numbers.records, "How often to record loss and accuracy, first and last included", "N");
  verb.add_option("--out", choice.out, "File of the trained network")->type_name("NET.h5")->group(training_group);
  add_checkpoint_options(verb, choice);
  add_train_option(verb, choice.data);
  add_data_options(verb, choice.data, true);
  add_common_options(verb, choice.common);
}

namespace {

void add_optimiser_settings(const TrainOptions& options, nlohmann::ordered_json& settings) {
  const Optimiser& optimiser = options.optimiser;
  settings["optimiser"] = to_string(optimiser.kind);
  if (optimiser.adaptive()) {
    settings["beta1"] = optimiser.beta1;
    settings["beta2"] = optimiser.beta2;
    settings["adam_epsilon"] = optimiser.epsilon;
  } else {
    settings["momentum"] = optimiser.momentum;
  }
  if (optimiser.weight_decay > 0) settings["weight_decay"] = optimiser.weight_decay;
  const LearningSchedule& schedule = options.schedule;
  if (schedule.constant()) return;
  settings["schedule"] = to_string(schedule.kind);
  if (schedule.warmup > 0) settings["warmup"] = schedule.warmup;
  if (schedule.kind == ScheduleKind::step) {
    settings["milestones"] = schedule.milestones;
    settings["rate_drop"] = schedule.drop;
  }
  if (schedule.kind == ScheduleKind::cosine) settings["last_rate"] = schedule.last;
}

}  // namespace

nlohmann::ordered_json train_settings(const TrainChoice& choice, const Network& network, const DataRequest& data) {
  const TrainOptions options = choice.options();
  nlohmann::ordered_json settings;
  settings["network"] = network.to_text();
  settings["width"] = options.width;
  if (!options.layer_widths.empty()) settings["width"] = options.layer_widths;
  settings["parameterisation"] = to_string(options.parameterisation);
  if (options.initialisation != Initialisation::normal) {
    settings["initialisation"] = to_string(options.initialisation);
  }
  if (options.augmentation.flip) settings["flip"] = true;
  if (options.augmentation.crop > 0) settings["crop"] = options.augmentation.crop;
  settings["loss"] = to_string(options.loss.kind);
  if (options.loss.kind == LossKind::insensitive) settings["epsilon"] = options.loss.epsilon;
  settings["regulariser"] = to_string(options.regulariser);
  settings["lambda"] = options.lambda;
  if (options.rate) settings["rate"] = *options.rate;
  if (options.epochs > 0) settings["epochs"] = options.epochs;
  if (options.epochs == 0) settings["steps"] = options.steps;
  settings["batch"] = options.batch;
  add_optimiser_settings(options, settings);
  if (options.flow_time > 0) {
    settings["flow"] = options.flow_time;
    settings["tolerance"] = options.tolerance;
  }
  if (!options.record_at.empty()) settings["record_steps"] = options.record_at;
  settings["centred"] = options.centred;
  settings["linearised"] = options.linearised;
  if (choice.from) settings["from"] = *choice.from;
  if (choice.as_kernel_machine) settings["as_kernel_machine"] = true;
  settings["data"] = data_settings(data);
  return settings;
}

}  // namespace widelimit::app
