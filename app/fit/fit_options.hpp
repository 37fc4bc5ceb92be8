#pragma once

#include "app/fit/class_weight_options.hpp"
#include "app/fit/machine_kernels.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/label_aware_options.hpp"
#include "app/shell/options.hpp"

#include "widelimit/machine/machine.hpp"

#include <optional>
#include <string>

namespace widelimit::app {

/// Values of the options of `fit`.
struct FitOptions {
  CommonOptions common;
  DataChoice data;
  KernelChoice kernel;
  std::string machine = "svm";
  double lambda = MachineOptions{}.lambda;
  double epsilon = MachineOptions{}.epsilon;
  bool bias = MachineOptions{}.bias;
  std::optional<std::string> scheme;
  std::optional<double> tolerance;
  bool probability = MachineOptions{}.probability;
  ClassWeightChoice class_weights;
  LabelAwareChoice label_aware;
  bool posterior = false;       ///< ridge as the mean of a Gaussian process; the model computes its variance
  std::string solver = "auto";  ///< solver of ridge: dense, cg, or auto (by memory)
  std::string out;

  /// Returns the options without class weights. Throws Error{usage} if options contradict each other, Error{input} if a
  /// number is out of range.
  [[nodiscard]] MachineOptions machine_options() const;
  /// Returns the options with the weights of the classes of `train`.
  [[nodiscard]] MachineOptions machine_options(const Dataset& train) const;
};

void add_fit_options(CLI::App& verb, FitOptions& options);
/// Adds the options of kernel and machine only: --network … --gram, --machine, --lambda, --epsilon, --bias, --scheme,
/// --tolerance.
void add_machine_options(CLI::App& verb, FitOptions& options);

/// Adds --epsilon, --bias and --scheme, the variants of a machine.
void add_variant_options(CLI::App& verb, double& epsilon, bool& bias, std::optional<std::string>& scheme,
                         const char* group);

/// Returns the options of kernel, machine and data for records and model files.
[[nodiscard]] nlohmann::ordered_json fit_settings(const FitOptions& options, const KernelRequest& request,
                                                  const DataRequest& data);

}  // namespace widelimit::app
