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
  std::string help = "Penalty added to the sum of losses:";
  for (const Regulariser each :
       {Regulariser::none, Regulariser::output, Regulariser::weights, Regulariser::init, Regulariser::aux}) {
    help += fmt::format("\n{}: {}", to_string(each), words(each));
  }
  return help;
}

/// Adds the options of the optimiser and the learning-rate schedule.
void add_optimiser_options(CLI::App& verb, TrainChoice& choice) {
  Optimiser& optimiser = choice.numbers.optimiser;
  LearningSchedule& schedule = choice.numbers.schedule;
  const auto name_option = [&](const char* name, std::string& value, const char* help, const char* type) {
    verb.add_option(name, value, help)->type_name(type)->capture_default_str()->group(optimiser_group);
  };
  const auto number = [&](const char* name, double& value, const char* help, const char* type) {
    verb.add_option(name, value, help)->type_name(type)->capture_default_str()->group(optimiser_group);
  };
  verb.add_option("--epochs", choice.numbers.epochs, "Number of passes over all samples, instead of --steps")
      ->type_name("N")
      ->excludes(verb.get_option("--steps"))
      ->group(optimiser_group);
  name_option("--optimiser", choice.optimiser,
              "sgd (plain or with --momentum), nesterov, adam, or adamw (decoupled weight decay)", "HOW");
  number("--momentum", optimiser.momentum, "sgd, nesterov: momentum", "MU");
  number("--beta1", optimiser.beta1, "adam, adamw: decay rate of the mean of gradients", "B");
  number("--beta2", optimiser.beta2, "adam, adamw: decay rate of the mean of squared gradients", "B");
  number("--adam-epsilon", optimiser.epsilon, "adam, adamw: added to the root of the mean of squared gradients", "E");
  number("--weight-decay", optimiser.weight_decay,
         "δ in δ/2·‖w‖² over all trained weights, in addition to the regulariser", "D");
  name_option("--schedule", choice.schedule, "Learning-rate schedule: constant, step or cosine", "HOW");
  number("--warmup", schedule.warmup, "Fraction of all steps in which the rate rises", "SHARE");
  verb.add_option("--milestones", schedule.milestones, "step: fractions of all steps at which the rate drops")
      ->type_name("S1,S2,…")
      ->delimiter(',')
      ->capture_default_str()
      ->group(optimiser_group);
  number("--rate-drop", schedule.drop, "step: factor of the rate at each milestone", "F");
  number("--last-rate", schedule.last, "cosine: final rate as a fraction of the initial rate", "SHARE");
}

/// Adds the options of checkpoints.
void add_checkpoint_options(CLI::App& verb, TrainChoice& choice) {
  verb.add_option("--checkpoint", choice.checkpoint,
                  "File of the network with the state of its training, written periodically")
      ->type_name("NET.h5")
      ->group(training_group);
  verb.add_option("--checkpoint-every", choice.numbers.checkpoint_every,
                  "Steps between checkpoints; default: a tenth of all")
      ->type_name("N")
      ->group(training_group);
  verb.add_option(
          "--from", choice.from,
          "Checkpoint to continue, with the same options and data; or a file of --out, whose weights start a new "
          "training")
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
    fail(Code::usage, "--checkpoint-every {} requires --checkpoint FILE.h5", numbers.checkpoint_every);
  }
  if (as_kernel_machine && from) {
    fail(Code::usage, "--from: the path kernel is summed from the first step; leave out --as-kernel-machine");
  }
  result.validate();
  if (as_kernel_machine) require_path_machine(result);
  return result;
}

void add_training_options(CLI::App& verb, TrainChoice& choice) {
  TrainOptions& numbers = choice.numbers;
  const auto number = [&](const char* name, auto& value, const char* help, const char* type) {
    verb.add_option(name, value, help)->type_name(type)->capture_default_str()->group(training_group);
  };
  verb.add_option("--loss", choice.loss, "squared, hinge, squared-hinge, insensitive, logistic or softmax")
      ->type_name("LOSS")
      ->capture_default_str()
      ->group(training_group);
  number("--epsilon", numbers.loss.epsilon, "insensitive: width ε of the insensitive zone of the loss", "E");
  verb.add_option("--regulariser", choice.regulariser, regulariser_help())
      ->type_name("R")
      ->capture_default_str()
      ->group(training_group);
  number("--lambda", numbers.lambda, "Weight λ of the regulariser", "L");
  verb.add_option("--rate", numbers.rate, "Learning rate (of a flow: the first step size); default: a stable one")
      ->type_name("ETA")
      ->group(training_group);
  number("--steps", numbers.steps, "Number of steps; of a flow, the step limit", "N");
  number("--batch", numbers.batch, "Batch size, 0: all samples; gradients are scaled by n/batch", "N");
  verb.add_option("--record-steps", numbers.record_at,
                  "Record these steps, and the first and the last, instead of --records")
      ->type_name("T1,T2,…")
      ->delimiter(',')
      ->group(training_group);
}

void add_descent_options(CLI::App& verb, TrainChoice& choice) {
  TrainOptions& numbers = choice.numbers;
  verb.add_option("--network", choice.network, "Network: text, preset, JSON, or a file with one of these")
      ->type_name("NET")
      ->required()
      ->group(training_group);
  verb.add_option("--width", choice.widths,
                  "Width of all hidden layers, or of each dense, conv and attention layer before the last")
      ->type_name("M1,M2,…")
      ->delimiter(',')
      ->capture_default_str()
      ->group(training_group);
  add_training_options(verb, choice);
  add_optimiser_options(verb, choice);
  verb.add_flag("--centred", numbers.centred, "Train f - f0, the network minus its initial output")
      ->group(training_group);
  verb.add_option("--parameterisation", choice.parameterisation,
                  "ntk (scale factors outside the weights) or standard (inside)")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(training_group);
  verb.add_option("--initialisation", choice.initialisation,
                  "normal, uniform (same variance), or pytorch (like its layers; needs standard)")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(training_group);
  verb.add_flag("--flip", numbers.augmentation.flip, "Augmentation: mirror images at random in every step")
      ->group(training_group);
  verb.add_option("--crop", numbers.augmentation.crop,
                  "Augmentation: shift images at random by up to N pixels in every step")
      ->type_name("N")
      ->capture_default_str()
      ->group(training_group);
}

void add_train_options(CLI::App& verb, TrainChoice& choice) {
  TrainOptions& numbers = choice.numbers;
  const auto number = [&](const char* name, auto& value, const char* help, const char* type) {
    verb.add_option(name, value, help)->type_name(type)->capture_default_str()->group(training_group);
  };
  add_descent_options(verb, choice);
  number("--flow", numbers.flow_time, "Follow the gradient flow up to this time with adaptive steps; 0: off", "T");
  number("--tolerance", numbers.tolerance, "Error tolerance of a step of a flow, per output", "TOL");
  verb.add_flag("--linearised", numbers.linearised, "Train the network linearised at initialisation")
      ->group(training_group);
  verb.add_flag("--as-kernel-machine", choice.as_kernel_machine,
                "Compare the trained network with its path kernel machine (regulariser output or none)")
      ->group(training_group);
  number("--records", numbers.records, "Number of recorded steps, including the first and the last", "N");
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
  if (options.epochs) settings["epochs"] = *options.epochs;
  if (!options.epochs) settings["steps"] = options.steps;
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
