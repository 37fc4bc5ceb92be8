#pragma once

#include "app/shell/options.hpp"

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/fit_data.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace widelimit::app {

/// Values of the options of a machine's kernel.
struct KernelChoice {
  std::optional<std::string> network;
  std::optional<std::string> classical;
  std::string kind = "ntk";
  std::optional<std::string> gram;  ///< file of a precomputed kernel

  /// Returns the request. Throws Error{usage} if options contradict each other, Error{input} if the network cannot be
  /// parsed.
  [[nodiscard]] KernelRequest request(const CommonOptions& common) const;
  /// Adds the kernel to `settings`.
  void write_settings(const KernelRequest& request, nlohmann::ordered_json& settings) const;
};

/// Adds --network, --classical, --kind and --gram.
void add_kernel_choice(CLI::App& verb, KernelChoice& choice, const char* group);

/// Reads the kernels from the file of --gram, or computes them. Throws Error{input} if the file belongs to another
/// network or other data.
[[nodiscard]] DataKernels machine_kernels(const KernelChoice& choice, const CommonOptions& common,
                                          const KernelRequest& request, const TrainTest& data, const Engine& engine);

}  // namespace widelimit::app
