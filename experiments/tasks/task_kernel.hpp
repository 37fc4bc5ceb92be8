#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/network/network.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace widelimit::experiment {

/// The NTK of a network on the samples of a task.
struct TaskKernel {
  AnyMatrix k;                ///< train × train
  AnyMatrix k_test;           ///< test × train
  bool semidefinite = false;  ///< k is positive semi-definite by construction
  double seconds = 0;
  std::string route;
};

/// Returns the leading block of a kernel, i.e. the kernel of fewer samples.
[[nodiscard]] AnyView corner(const AnyMatrix& kernel, Index rows, Index cols);

/// Computes the kernel in memory, or, if `file` is given, tile by tile in that HDF5 file, resuming an interrupted run.
/// Both results are bitwise identical.
[[nodiscard]] TaskKernel task_kernel(const Setting& setting, const Network& network, const SampleView& train,
                                     const SampleView& test,
                                     const std::optional<std::filesystem::path>& file = std::nullopt);

/// Computes the NTK of samples with themselves, in memory or in a file as task_kernel does.
[[nodiscard]] AnyMatrix square_kernel(const Setting& setting, const Network& network, const SampleView& samples,
                                      const std::optional<std::filesystem::path>& file = std::nullopt);

/// Returns the option "grams", the folder of stored kernels.
[[nodiscard]] Option grams_option();
/// Returns the folder of the option "grams", created if missing; std::nullopt if the option is empty. Throws
/// Error{resource} if it cannot be created.
[[nodiscard]] std::optional<std::filesystem::path> gram_folder(const Setting& setting);
/// Returns the file of a kernel in the folder, named by sizes and precision; std::nullopt without a folder.
[[nodiscard]] std::optional<std::filesystem::path> gram_file(const std::optional<std::filesystem::path>& folder,
                                                             const std::string& name, Index train, Index test,
                                                             Precision precision);

}  // namespace widelimit::experiment
