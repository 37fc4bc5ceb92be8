#include "app/train/train_options.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/finite/tangent/path_kernel.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace widelimit::app {

namespace {

constexpr const char* training_group = "Training";

std::string regulariser_help() {
  std::string help = "What holds the weights back, beside the sum of losses:";
  for (const Regulariser each :
       {Regulariser::none, Regulariser::output, Regulariser::weights, Regulariser::init, Regulariser::aux}) {
    help += fmt::format("\n{}: {}", to_string(each), words(each));
  }
  return help;
}

}  // namespace

TrainOptions TrainChoice::options() const {
  TrainOptions result = numbers;
  result.parameterisation = parse_parameterisation(parameterisation);
  result.loss.kind = parse_loss(loss);
  result.regulariser = parse_regulariser(regulariser);
  result.precision = parse_precision(common.precision);
  result.seed = common.seed;
  result.memory = common.memory_limit();
  if (common.backend != "cpu") {
    fail(Code::usage, "--backend {}: finite networks are trained on the processor; leave it out", common.backend);
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

void add_train_options(CLI::App& verb, TrainChoice& choice) {
  TrainOptions& numbers = choice.numbers;
  const auto number = [&](const char* name, auto& value, const char* words, const char* type) {
    verb.add_option(name, value, words)->type_name(type)->capture_default_str()->group(training_group);
  };
  verb.add_option("--network", choice.network, "The network: text, preset, JSON, or a file of one")
      ->type_name("NET")
      ->required()
      ->group(training_group);
  number("--width", numbers.width, "Channels of every hidden layer", "M");
  add_training_options(verb, choice);
  number("--momentum", numbers.momentum, "Momentum: fraction of the previous step that is added to the next", "MU");
  number("--flow", numbers.flow_time, "Follow the gradient flow to this time by steps of their own size; 0 is off",
         "T");
  number("--tolerance", numbers.tolerance, "Error that a step of a flow may make in an output", "TOL");
  verb.add_flag("--centred", numbers.centred, "Train f - f0, the network minus what it was at the start")
      ->group(training_group);
  verb.add_flag("--linearised", numbers.linearised, "Train the network linearised at its start")->group(training_group);
  verb.add_flag("--as-kernel-machine", choice.as_kernel_machine,
                "Write the trained network as a kernel machine and tell how far the two are apart (regulariser output)")
      ->group(training_group);
  verb.add_option("--parameterisation", choice.parameterisation,
                  "ntk (scales stand outside the weights) or standard (inside)")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(training_group);
  number("--records", numbers.records, "How often to record loss and accuracy, first and last included", "N");
  verb.add_option("--out", choice.out, "File of the trained network")->type_name("NET.h5")->group(training_group);
  add_train_option(verb, choice.data);
  add_data_options(verb, choice.data, true);
  add_common_options(verb, choice.common);
}

nlohmann::ordered_json train_settings(const TrainChoice& choice, const Network& network, const DataRequest& data) {
  const TrainOptions options = choice.options();
  nlohmann::ordered_json settings;
  settings["network"] = network.to_text();
  settings["width"] = options.width;
  settings["parameterisation"] = to_string(options.parameterisation);
  settings["loss"] = to_string(options.loss.kind);
  if (options.loss.kind == LossKind::insensitive) settings["epsilon"] = options.loss.epsilon;
  settings["regulariser"] = to_string(options.regulariser);
  settings["lambda"] = options.lambda;
  if (options.rate) settings["rate"] = *options.rate;
  settings["steps"] = options.steps;
  settings["batch"] = options.batch;
  settings["momentum"] = options.momentum;
  if (options.flow_time > 0) {
    settings["flow"] = options.flow_time;
    settings["tolerance"] = options.tolerance;
  }
  if (!options.record_at.empty()) settings["record_steps"] = options.record_at;
  settings["centred"] = options.centred;
  settings["linearised"] = options.linearised;
  if (choice.as_kernel_machine) settings["as_kernel_machine"] = true;
  settings["data"] = data_settings(data);
  return settings;
}

}  // namespace widelimit::app
