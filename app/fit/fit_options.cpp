#include "app/fit/fit_options.hpp"

#include "widelimit/base/error.hpp"

#include <CLI/CLI.hpp>

#include <cmath>

namespace widelimit::app {

namespace {

constexpr const char* machine_group = "Machine";

bool has_lambda(Machine machine) { return machine != Machine::regression && machine != Machine::hard_svm; }

/// What only ridge has.
void check_ridge_options(const FitOptions& options, Machine machine) {
  if (options.solver != "auto" && options.solver != "dense" && options.solver != "cg") {
    fail(Code::usage, "--solver {}: choose auto, dense or cg", options.solver);
  }
  if (options.posterior) {
    if (machine != Machine::ridge) fail(Code::usage, "--posterior is of ridge, not of {}", options.machine);
    if (options.bias) fail(Code::usage, "--posterior: a Gaussian process has no bias; leave --bias out");
    if (options.class_weights.asked()) {
      fail(Code::usage,
           "--posterior: a Gaussian process has one noise variance; leave --balance and --class-weight out");
    }
    if (options.solver == "cg") fail(Code::usage, "--posterior needs the factor of the Gram; leave --solver cg out");
  }
  if (options.label_aware.method) {
    const char* obstacle = options.posterior        ? "--posterior"
                           : options.probability    ? "--probability"
                           : options.solver == "cg" ? "--solver cg"
                                                    : nullptr;
    if (obstacle != nullptr) {
      fail(Code::usage, "--label-aware: the kernel has seen all labels and may be indefinite; leave {} out", obstacle);
    }
  }
  if (options.solver != "cg") return;
  if (machine != Machine::ridge) fail(Code::usage, "--solver cg is of ridge, not of {}", options.machine);
  if (!options.kernel.network) fail(Code::usage, "--solver cg needs a --network");
}

}  // namespace

MachineOptions FitOptions::machine_options() const {
  MachineOptions result{.machine = parse_machine(machine), .lambda = lambda, .epsilon = epsilon, .bias = bias};
  if (!std::isfinite(lambda) || lambda < 0 ||
      (lambda == 0 && has_lambda(result.machine) && result.machine != Machine::ridge)) {
    fail(Code::usage, "--lambda {}: it must be a positive number (regression and hard-svm are the machines of λ = 0)",
         lambda);
  }
  check_ridge_options(*this, result.machine);
  class_weights.check(result.machine);
  (void)label_aware.options(common.seed);
  if (scheme) result.scheme = parse_scheme(*scheme);
  result.tolerance = tolerance;
  result.probability = probability;
  return result;
}

MachineOptions FitOptions::machine_options(const Dataset& train) const {
  MachineOptions result = machine_options();
  result.class_weights = class_weights.of(train.class_names);
  return result;
}

void add_machine_options(CLI::App& verb, FitOptions& options) {
  add_kernel_choice(verb, options.kernel, machine_group);
  verb.add_option("--machine", options.machine, "regression, ridge, hard-svm, svm, svm2, svr or logistic")
      ->type_name("M")
      ->capture_default_str()
      ->group(machine_group);
  verb.add_option("--lambda", options.lambda, "Weight λ of ‖β‖²/2 beside the sum of losses; C is 1/λ")
      ->type_name("L")
      ->capture_default_str()
      ->group(machine_group);
  verb.add_option("--epsilon", options.epsilon, "svr: errors up to here cost nothing")
      ->type_name("E")
      ->capture_default_str()
      ->group(machine_group);
  verb.add_flag("--bias", options.bias, "Add an offset that is not regularised")->group(machine_group);
  verb.add_option(
          "--scheme", options.scheme,
          "Several classes by svm: one-vs-one (the default), one-vs-one-first (equal votes to the first class, as "
          "LIBSVM) or one-vs-rest")
      ->type_name("HOW")
      ->group(machine_group);
  verb.add_option("--tolerance", options.tolerance,
                  "Relative duality gap to reach; else 1e-6, logistic 1e-8; cg: residual")
      ->type_name("T")
      ->group(machine_group);
}

void add_fit_options(CLI::App& verb, FitOptions& options) {
  add_machine_options(verb, options);
  add_class_weight_options(verb, options.class_weights, machine_group);
  add_label_aware_options(verb, options.label_aware, machine_group, Psd::clip);
  verb.add_flag("--probability", options.probability,
                "svm, svm2, hard-svm: probabilities by Platt, from 5 more fits to parts of the data")
      ->group(machine_group);
  verb.add_flag("--posterior", options.posterior,
                "ridge: a Gaussian process of noise variance λ/2; predict then tells standard deviations")
      ->group(machine_group);
  verb.add_option(
          "--solver", options.solver,
          "ridge: dense (a factor of the Gram), cg (products with it, never held), auto (cg where it exceeds --memory)")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(machine_group);
  verb.add_option("--out", options.out, "File of the fitted model")
      ->type_name("MODEL.h5")
      ->required()
      ->group(machine_group);
  add_train_option(verb, options.data);
  add_data_options(verb, options.data, true);
  add_common_options(verb, options.common);
}

nlohmann::ordered_json fit_settings(const FitOptions& options, const KernelRequest& request, const DataRequest& data) {
  nlohmann::ordered_json settings;
  options.kernel.tell(request, settings);
  settings["machine"] = options.machine;
  const Machine machine = parse_machine(options.machine);
  if (has_lambda(machine)) settings["lambda"] = options.lambda;
  if (machine == Machine::svr) settings["epsilon"] = options.epsilon;
  settings["bias"] = options.bias;
  if (options.scheme) settings["scheme"] = *options.scheme;
  if (options.probability) settings["probability"] = true;
  options.class_weights.tell(settings);
  options.label_aware.tell(settings);
  if (options.posterior) settings["posterior"] = true;
  if (options.solver != "auto") settings["solver"] = options.solver;
  settings["data"] = data_settings(data);
  return settings;
}

}  // namespace widelimit::app
