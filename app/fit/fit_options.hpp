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

/// `fit` as typed.
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
  bool posterior = false;       ///< ridge as the mean of a Gaussian process, whose variance the model knows
  std::string solver = "auto";  ///< of ridge: dense, cg, or by memory
  std::string out;

  /// Error{usage} for contradictions, Error{input} for numbers out of range.
  [[nodiscard]] MachineOptions machine_options() const;
  /// The same for these samples: with the weights of their classes.
  [[nodiscard]] MachineOptions machine_options(const Dataset& train) const;
};

void add_fit_options(CLI::App& verb, FitOptions& options);
/// Of these the kernel and the machine: --network … --gram, --machine, --lambda, --epsilon, --bias, --scheme,
/// --tolerance.
void add_machine_options(CLI::App& verb, FitOptions& options);

/// What was fitted to what, for records and model files.
[[nodiscard]] nlohmann::ordered_json fit_settings(const FitOptions& options, const KernelRequest& request,
                                                  const DataRequest& data);

}  // namespace widelimit::app
