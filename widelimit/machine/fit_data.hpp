#pragma once

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/data_kernels.hpp"
#include "widelimit/machine/fit_options.hpp"
#include "widelimit/machine/machine.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Targets, one row per sample: labels 0 … classes − 1, or numbers in columns.
struct FitTargets {
  std::span<const Index> labels;  ///< empty for numeric targets
  Index classes = 0;
  MatrixView<const double> values{};

  [[nodiscard]] Index outputs() const { return classes > 0 ? classes : values.cols; }
};

/// A fitted machine with its decisions on training and test samples.
struct FittedData {
  FittedMachine machine;
  Matrix<double> train;                  ///< decisions
  std::optional<Matrix<double>> test;    ///< if there are test samples
  std::optional<double> kernel_seconds;  ///< if a Gram matrix was computed
  double quadrature_error = 0;           ///< of the kernel, if it was computed
  std::optional<double> likelihood;      ///< log p(y) of the Gaussian process, summed over outputs
  std::vector<double> residuals;         ///< of conjugate gradients, after each iteration
  std::string note;                      ///< why conjugate gradients were chosen
  /// The label-aware kernel for a model. Coefficients refer to the kernel before its spectrum was repaired.
  std::optional<LabelAwareKernels> label_aware = std::nullopt;
};

/// Returns whether the machine fits the classes of a data set rather than its numeric targets. Throws Error{input} if
/// it has neither.
[[nodiscard]] bool fits_classes(Machine machine, const Dataset& data);

/// Returns the targets of a data set for the machine; borrows them.
[[nodiscard]] FitTargets fit_targets(Machine machine, const Dataset& data);

/// Fits a machine to samples; chooses kernel, solver and memory by the data. Entry point of the CLI and of Python.
[[nodiscard]] FittedData fit_samples(const KernelRequest& request, const SampleView& x, const FitTargets& targets,
                                     const FitDataOptions& options, const Engine& engine);
/// Same for a Gram matrix of the caller, which a label-aware kernel overwrites; of those it takes kr1 and kr2, which do
/// not read samples. Throws Error{usage} for other methods.
[[nodiscard]] FittedData fit_kernel(AnyMatrix& k, const FitTargets& targets, const FitDataOptions& options,
                                    const Engine& engine);
/// Same for labelled data, with decisions on the test samples.
[[nodiscard]] FittedData fit_data(const KernelRequest& request, const TrainTest& data, const FitDataOptions& options,
                                  const Engine& engine);
/// Same with precomputed kernels.
[[nodiscard]] FittedData fit_data(DataKernels kernels, const TrainTest& data, const FitDataOptions& options,
                                  const Engine& engine);

}  // namespace widelimit
