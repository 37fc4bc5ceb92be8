#pragma once

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/machine.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Solver of the linear system of ridge.
enum class Solver : std::uint8_t {
  automatic,            ///< dense if matrix and factor fit into memory, else conjugate gradients
  dense,                ///< factorisation of the Gram matrix
  conjugate_gradients,  ///< products with a Gram matrix that is not stored
};
[[nodiscard]] Solver parse_solver(std::string_view text);  ///< "auto", "dense" or "cg"

struct FitDataOptions {
  MachineOptions machine;  ///< `check_definite` has no effect if the kernel is known to be semi-definite
  bool posterior = false;  ///< ridge only: a Gaussian process with noise variance λ/2 and its likelihood
  Solver solver = Solver::automatic;
  /// Memory limit in bytes, including the samples; default: the available memory, excluding the samples.
  std::optional<std::size_t> memory;
  /// Label-aware kernel; needs class labels and the Gram matrix in memory.
  std::optional<LabelAwareOptions> label_aware = std::nullopt;
  /// Additional pair features for it, evaluated on the preprocessed samples.
  const PairFunctions* pair_features = nullptr;

  /// Throws Error{usage} if machine, solver, posterior and kernel are incompatible.
  void validate() const;
};

/// Precomputed kernels of the training samples, and of the test with the training samples.
struct DataKernels {
  AnyMatrix train;
  std::optional<GramMatrix> streamed;  ///< instead of `train`: a matrix read or computed for each product
  std::optional<AnyMatrix> test;
  std::optional<double> seconds;  ///< computation time; empty if they were read
  bool semidefinite = false;      ///< `train` is positive semi-definite by construction
};

/// Computes the requested kernels. Sets `quadrature_error` to that of their entries.
[[nodiscard]] DataKernels data_kernels(const KernelRequest& request, const TrainTest& data, const Engine& engine,
                                       double& quadrature_error);

/// Opens kernels in a file: reads them into memory or, if conjugate gradients are chosen or the memory limit requires
/// it, reads them for each product. Throws Error{input} if network or sizes do not match. `engine` must outlive the
/// result.
[[nodiscard]] DataKernels file_kernels(const std::filesystem::path& path, const KernelRequest& request,
                                       const TrainTest& data, const FitDataOptions& options, const Engine& engine);

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

/// Resolves Solver::automatic: conjugate gradients for ridge with a network whose Gram matrix and factor do not fit
/// into `memory` bytes.
[[nodiscard]] Solver chosen_solver(const FitDataOptions& options, bool network, Index samples, Index outputs,
                                   Precision precision, std::size_t memory);

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
