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

/// The first rows and columns of a kernel: that of fewer samples.
[[nodiscard]] AnyView corner(const AnyMatrix& kernel, Index rows, Index cols);

/// Computed in memory, or, where there is a `file`, tile by tile into that HDF5 file and read back: a run that was
/// stopped goes on where it ended. Both have the same bits.
[[nodiscard]] TaskKernel task_kernel(const Setting& setting, const Network& network, const SampleView& train,
                                     const SampleView& test,
                                     const std::optional<std::filesystem::path>& file = std::nullopt);

/// The tangent kernel of samples with themselves, computed or in a file in the same way.
[[nodiscard]] AnyMatrix square_kernel(const Setting& setting, const Network& network, const SampleView& samples,
                                      const std::optional<std::filesystem::path>& file = std::nullopt);

/// The folder of the option "grams", made where it is missing; nothing where none was asked for. Error{resource} where
/// it cannot be made.
[[nodiscard]] std::optional<std::filesystem::path> gram_folder(const Setting& setting);
/// The file of a kernel there, named after its sizes and precision; nothing without a folder.
[[nodiscard]] std::optional<std::filesystem::path> gram_file(const std::optional<std::filesystem::path>& folder,
                                                             const std::string& name, Index train, Index test,
                                                             Precision precision);

}  // namespace widelimit::experiment
