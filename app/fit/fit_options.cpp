#include "app/fit/fit_options.hpp"

#include "widelimit/base/error.hpp"

#include <CLI/CLI.hpp>

#include <cmath>

namespace widelimit::app {

namespace {

constexpr const char* machine_group = "Machine";

bool has_lambda(Machine machine) { return machine != Machine::regression && machine != Machine::hard_svm; }

/// Checks the options that only ridge supports.
void check_ridge_options(const FitOptions& options, Machine machine) {
  if (options.solver != "auto" && options.solver != "dense" && options.solver != "cg") {
    fail(Code::usage, "--solver {}: choose auto, dense or cg", options.solver);
  }
  if (options.posterior) {
    if (machine != Machine::ridge) fail(Code::usage, "--posterior requires --machine ridge, not {}", options.machine);
    if (options.bias) fail(Code::usage, "--posterior: a Gaussian process has no bias; leave --bias out");
    if (options.class_weights.given()) {
      fail(Code::usage,
           "--posterior: a Gaussian process has one noise variance; leave --balance and --class-weight out");
    }
    if (options.solver == "cg")
      fail(Code::usage, "--posterior needs a factorisation of the Gram matrix; leave --solver cg out");
  }
  if (options.label_aware.method) {
    const char* obstacle = options.posterior        ? "--posterior"
                           : options.probability    ? "--probability"
                           : options.solver == "cg" ? "--solver cg"
                                                    : nullptr;
    if (obstacle != nullptr) {
      fail(Code::usage, "--label-aware: the kernel depends on all labels and may be indefinite; leave {} out",
           obstacle);
    }
  }
  if (options.solver != "cg") return;
  if (machine != Machine::ridge) fail(Code::usage, "--solver cg requires --machine ridge, not {}", options.machine);
  if (!options.kernel.network) fail(Code::usage, "--solver cg needs a --network");
}

}  // namespace

MachineOptions FitOptions::machine_options() const {
  MachineOptions result{.machine = parse_machine(machine), .lambda = lambda, .epsilon = epsilon, .bias = bias};
  if (!std::isfinite(lambda) || lambda < 0 ||
      (lambda == 0 && has_lambda(result.machine) && result.machine != Machine::ridge)) {
    fail(Code::usage, "--lambda {}: it must be a positive number (for λ = 0 use regression or hard-svm)", lambda);
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

void add_variant_options(CLI::App& verb, double& epsilon, bool& bias, std::optional<std::string>& scheme,
                         const char* group) {
  verb.add_option("--epsilon", epsilon, "svr: width ε of the insensitive zone of the loss")
      ->type_name("E")
      ->capture_default_str()
      ->group(group);
  verb.add_flag("--bias", bias, "Add an unregularised bias")->group(group);
  verb.add_option("--scheme", scheme,
                  "More than two classes with svm: one-vs-one (the default), one-vs-one-first (ties go to the first "
                  "class, as in LIBSVM) or one-vs-rest")
      ->type_name("HOW")
      ->group(group);
}

void add_machine_options(CLI::App& verb, FitOptions& options) {
  add_kernel_choice(verb, options.kernel, machine_group);
  verb.add_option("--machine", options.machine, "regression, ridge, hard-svm, svm, svm2, svr or logistic")
      ->type_name("M")
      ->capture_default_str()
      ->group(machine_group);
  verb.add_option("--lambda", options.lambda, "Weight λ of ‖β‖²/2 relative to the sum of losses; C is 1/λ")
      ->type_name("L")
      ->capture_default_str()
      ->group(machine_group);
  add_variant_options(verb, options.epsilon, options.bias, options.scheme, machine_group);
  verb.add_option("--tolerance", options.tolerance,
                  "Relative duality gap; default 1e-6, logistic 1e-8; cg: relative residual")
      ->type_name("T")
      ->group(machine_group);
}

void add_fit_options(CLI::App& verb, FitOptions& options) {
  add_machine_options(verb, options);
  add_class_weight_options(verb, options.class_weights, machine_group);
  add_label_aware_options(verb, options.label_aware, machine_group, Psd::clip);
  verb.add_flag("--probability", options.probability,
                "svm, svm2, hard-svm: probabilities by Platt scaling, from 5 additional fits to folds")
      ->group(machine_group);
  verb.add_flag("--posterior", options.posterior,
                "ridge: a Gaussian process of noise variance λ/2; predict then prints standard deviations")
      ->group(machine_group);
  verb.add_option(
          "--solver", options.solver,
          "ridge: dense (factors the Gram matrix), cg (conjugate gradients, does not store it), auto (cg if dense "
          "exceeds --memory)")
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
  options.kernel.write_settings(request, settings);
  settings["machine"] = options.machine;
  const Machine machine = parse_machine(options.machine);
  if (has_lambda(machine)) settings["lambda"] = options.lambda;
  if (machine == Machine::svr) settings["epsilon"] = options.epsilon;
  settings["bias"] = options.bias;
  if (options.scheme) settings["scheme"] = *options.scheme;
  if (options.probability) settings["probability"] = true;
  options.class_weights.write_settings(settings);
  options.label_aware.write_settings(settings);
  if (options.posterior) settings["posterior"] = true;
  if (options.solver != "auto") settings["solver"] = options.solver;
  settings["data"] = data_settings(data);
  return settings;
}

}  // namespace widelimit::app
