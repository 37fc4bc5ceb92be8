#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/network/network.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace widelimit::experiment {

/// The tangent kernel of a network on the samples of a task.
struct TaskKernel {
  AnyMatrix k;                ///< train × train
  AnyMatrix k_test;           ///< test × train
  bool semidefinite = false;  ///< k is so by construction
  double seconds = 0;
  std::string route;
};

/// Computed in memory, or, where there is a `file`, tile by tile into that HDF5 file and read back: a run that was
/// stopped goes on where it ended. Both have the same bits.
[[nodiscard]] TaskKernel task_kernel(const Setting& setting, const Network& network, const SampleView& train,
                                     const SampleView& test,
                                     const std::optional<std::filesystem::path>& file = std::nullopt);

/// The tangent kernel of samples with themselves, computed or in a file in the same way.
[[nodiscard]] AnyMatrix square_kernel(const Setting& setting, const Network& network, const SampleView& samples,
                                      const std::optional<std::filesystem::path>& file = std::nullopt);

/// Where the option `grams` says that Gram matrices go; made where it is not there. Error{resource} where it cannot be.
[[nodiscard]] std::optional<std::filesystem::path> gram_folder(const Setting& setting);

}  // namespace widelimit::experiment
