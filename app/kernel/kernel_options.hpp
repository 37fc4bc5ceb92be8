#pragma once

#include "app/shell/data_options.hpp"
#include "app/shell/options.hpp"

#include "widelimit/kernel/request.hpp"

namespace widelimit::app {

/// `kernel` as typed.
struct KernelOptions {
  CommonOptions common;
  DataChoice data;
  std::vector<std::string> networks;  ///< more than one only where the Gram is stored by tiles
  std::optional<std::string> classical;
  std::string kind = "ntk";
  std::string method = "auto";
  Index width = MonteCarloOptions{}.width;
  Index draws = MonteCarloOptions{}.draws;
  bool sweep = false;
  bool layers = false;
  bool diagonal = false;
  std::string out;
  bool resume = false;
  bool force = false;

  /// Error{usage} for contradictions, Error{input} for a network that cannot be read.
  [[nodiscard]] KernelRequest request() const;
  [[nodiscard]] std::vector<Network> parsed_networks() const;
  /// Whether the Gram goes into its file tile by tile: HDF5, a network, formulas.
  [[nodiscard]] bool stored(const KernelRequest& asked) const;
};

void add_kernel_options(CLI::App& verb, KernelOptions& options);

/// What the kernel is of: the network or classical kernel, the data, the kind, how.
[[nodiscard]] nlohmann::ordered_json kernel_settings(const KernelOptions& options, const KernelRequest& request,
                                                     const DataRequest& data);

}  // namespace widelimit::app
