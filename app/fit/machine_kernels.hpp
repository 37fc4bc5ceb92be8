#pragma once

#include "app/shell/options.hpp"

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/fit_data.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace widelimit::app {

/// The one kernel of a machine, as typed.
struct KernelChoice {
  std::optional<std::string> network;
  std::optional<std::string> classical;
  std::string kind = "ntk";
  std::optional<std::string> gram;  ///< file of a kernel computed before

  /// Error{usage} for contradictions, Error{input} for a network that cannot be read.
  [[nodiscard]] KernelRequest request(const CommonOptions& common) const;
  /// What it is, for records.
  void tell(const KernelRequest& request, nlohmann::ordered_json& settings) const;
};

/// --network, --classical, --kind and --gram.
void add_kernel_choice(CLI::App& verb, KernelChoice& choice, const char* group);

/// Read from the file of --gram, or computed. Error{input} where the file is of another network or of other data.
[[nodiscard]] DataKernels machine_kernels(const KernelChoice& choice, const CommonOptions& common,
                                          const KernelRequest& request, const TrainTest& data, const Engine& engine);

}  // namespace widelimit::app
