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

/// How the linear system of ridge is solved.
enum class Solver : std::uint8_t {
  automatic,            ///< dense where matrix and factor fit into memory, else conjugate gradients
  dense,                ///< by a factor of the Gram matrix
  conjugate_gradients,  ///< by products with a Gram matrix that is never held
};
[[nodiscard]] Solver parse_solver(std::string_view text);  ///< "auto", "dense" or "cg"

struct FitDataOptions {
  MachineOptions machine;  ///< its `check_definite` is set by what is known of the kernel
  bool posterior = false;  ///< of ridge: a Gaussian process of noise variance λ/2, with its likelihood
  Solver solver = Solver::automatic;
  /// Bytes for everything, samples included; default: what the machine has left, besides the samples.
  std::optional<std::size_t> memory;
  /// A kernel that knows the labels of the training samples: needs classes and the Gram matrix in memory.
  std::optional<LabelAwareOptions> label_aware = std::nullopt;
  /// More features of pairs for it, of the samples as the machine sees them.
  const PairFunctions* pair_features = nullptr;

  /// Error{usage} where machine, solver, posterior and kernel contradict each other.
  void validate() const;
};

/// Kernels of the training samples, and of the test samples with them, where they are known before.
struct DataKernels {
  AnyMatrix train;
  std::optional<GramMatrix> unheld;  ///< instead of `train`: a matrix that is read or computed for each product
  std::optional<AnyMatrix> test;
  std::optional<double> seconds;  ///< nothing where they were read
  bool semidefinite = false;      ///< that of the training samples is so by construction
};

/// The kernels that a request stands for. `quadrature_error` becomes that of their entries.
[[nodiscard]] DataKernels data_kernels(const KernelRequest& request, const TrainTest& data, const Engine& engine,
                                       double& quadrature_error);

/// Kernels that were written to a file before: read into memory or, where conjugate gradients are asked for or memory
/// does not do, from the file for each product. Error{input} where the file is of another network, or of other sizes
/// than the data. `engine` must outlive them.
[[nodiscard]] DataKernels file_kernels(const std::filesystem::path& path, const KernelRequest& request,
                                       const TrainTest& data, const FitDataOptions& options, const Engine& engine);

/// What a machine is fitted to, a row for each sample: labels 0 … classes − 1, or numbers in columns.
struct FitTargets {
  std::span<const Index> labels;  ///< empty where numbers are fitted
  Index classes = 0;
  MatrixView<const double> values{};

  [[nodiscard]] Index outputs() const { return classes > 0 ? classes : values.cols; }
};

/// A machine, and what it says of the samples it was fitted to and of others.
struct FittedData {
  FittedMachine machine;
  Matrix<double> train;                  ///< decisions
  std::optional<Matrix<double>> test;    ///< where there are test samples
  std::optional<double> kernel_seconds;  ///< where a Gram matrix was computed
  double quadrature_error = 0;           ///< of the kernel, where it was computed
  std::optional<double> likelihood;      ///< log p(y) of the Gaussian process, all outputs together
  std::vector<double> residuals;         ///< of conjugate gradients, after each iteration
  std::string note;                      ///< why conjugate gradients were chosen
  /// Of a label-aware kernel: what a model needs of it. Coefficients are those of the kernel before its repair.
  std::optional<LabelAwareKernels> label_aware = std::nullopt;
};

/// Whether a machine fits the classes of a data set rather than its numbers. Error{input} where it has neither.
[[nodiscard]] bool fits_classes(Machine machine, const Dataset& data);

/// What a machine fits of a data set, which must outlive it.
[[nodiscard]] FitTargets fit_targets(Machine machine, const Dataset& data);

/// The solver that `automatic` stands for: conjugate gradients for ridge on a network whose Gram matrix and factor do
/// not fit into `memory` bytes.
[[nodiscard]] Solver chosen_solver(const FitDataOptions& options, bool network, Index samples, Index outputs,
                                   Precision precision, std::size_t memory);

/// Fits a machine to samples: kernel, solver and memory by what the data need. All doors go through here.
[[nodiscard]] FittedData fit_samples(const KernelRequest& request, const SampleView& x, const FitTargets& targets,
                                     const FitDataOptions& options, const Engine& engine);
/// The same on labelled data, with the decisions on test samples.
[[nodiscard]] FittedData fit_data(const KernelRequest& request, const TrainTest& data, const FitDataOptions& options,
                                  const Engine& engine);
/// The same on kernels that are known.
[[nodiscard]] FittedData fit_data(DataKernels kernels, const TrainTest& data, const FitDataOptions& options,
                                  const Engine& engine);

}  // namespace widelimit
