#pragma once

#include "app/data_options.hpp"
#include "app/options.hpp"

#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/machine.hpp"

#include <optional>
#include <string>

namespace widelimit::app {

/// `fit` as typed.
struct FitOptions {
  CommonOptions common;
  DataChoice data;
  std::optional<std::string> network;
  std::optional<std::string> classical;
  std::string kind = "ntk";
  std::optional<std::string> gram;  ///< file of a kernel computed before
  std::string machine = "svm";
  double lambda = MachineOptions{}.lambda;
  double epsilon = MachineOptions{}.epsilon;
  bool bias = MachineOptions{}.bias;
  std::optional<std::string> scheme;
  std::optional<double> tolerance;
  bool probability = MachineOptions{}.probability;
  bool posterior = false;       ///< ridge as the mean of a Gaussian process, whose variance the model knows
  std::string solver = "auto";  ///< of ridge: dense, cg, or by memory
  std::string out;

  /// Error{usage} for contradictions, Error{input} for a network that cannot be read.
  [[nodiscard]] KernelRequest kernel_request() const;
  [[nodiscard]] MachineOptions machine_options() const;
};

void add_fit_options(CLI::App& verb, FitOptions& options);

/// What was fitted to what, for records and model files.
[[nodiscard]] nlohmann::ordered_json fit_settings(const FitOptions& options, const KernelRequest& request,
                                                  const DataRequest& data);

}  // namespace widelimit::app
