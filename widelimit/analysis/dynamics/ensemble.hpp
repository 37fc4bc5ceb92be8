#pragma once

#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/summary.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace widelimit {

struct EnsembleOptions {
  Kind kind = Kind::ntk;  ///< ntk: trains all layers that are not frozen; nngp: trains only the last layer
  /// ≥ 0; infinity means the end of training
  std::vector<double> times = {std::numeric_limits<double>::infinity()};
  double lambda = 0;                     ///< λ of the regulariser λ/2‖w − w₀‖²; finite, ≥ 0
  double diag_reg = 0;                   ///< relative regulariser: adds 2·diag_reg·mean(diag Θ) to λ; finite, ≥ 0
  bool covariance = false;               ///< compute the covariance between test points, not only variances
  Precision precision = Precision::f64;  ///< of the kernels
  std::optional<std::size_t> memory;     ///< total memory limit in bytes; default: the available memory
  Progress* progress = nullptr;

  /// Throws Error{input} if a value is out of range.
  void validate() const;
};

/// Kernels of an ensemble, not owned.
struct EnsembleKernels {
  GramMatrix trained;                   ///< Θ of the training samples: the NTK, or the NNGP kernel if only the last
                                        ///< layer is trained
  GramMatrix prior;                     ///< K, the NNGP kernel of the training samples
  AnyView test_trained;                 ///< Θ(test, train)
  AnyView test_prior;                   ///< K(test, train)
  std::vector<double> test_variance;    ///< K(x, x) of test points
  std::optional<AnyView> test_by_test;  ///< K(test, test), required for a covariance
};

/// Distribution of the outputs of infinitely wide networks over the initial weights: a Gaussian at each time, with the
/// same covariance for all outputs.
struct Ensemble {
  std::vector<double> times;
  Index outputs = 0;
  Matrix<double> mean;          ///< times × (test points·outputs), the outputs of a point adjacent
  Matrix<double> variance;      ///< times × test points, ≥ 0
  Matrix<double> covariance;    ///< (times·test points) × test points, one symmetric block per time, if requested
  double quadrature_error = 0;  ///< of the kernels, if they were computed here
  Summary summary;              ///< not_positive_definite, with no times, if Θ has a negative eigenvalue
};

/// Computes the distribution over random initial weights of networks trained by gradient flow on Σ(y − f)² + λ/2‖w −
/// w₀‖². f is
///
///     f_t(x) = f₀(x) + A_t(x)(y − f₀(X)),   A_t = Θ_* (Θ + λ/2·I)⁻¹(I − e^{−(2Θ + λI)t}),
///
/// with f₀ a Gaussian process of covariance K, so that at time t
///
///     mean = A y,   covariance = K** − A K*ᵀ − K* Aᵀ + A K Aᵀ.
///
/// [docs/theory/dynamics.md]. At λ = 0, the numerical null space of Θ is not learned. O(n³) once, then O(n²·test) per
/// time, plus n·test² with covariances; 5n² + 5n·test doubles.
[[nodiscard]] Ensemble ensemble(const EnsembleKernels& kernels, MatrixView<const double> targets,
                                const EnsembleOptions& options);
/// Same for a network; computes its kernels first.
[[nodiscard]] Ensemble ensemble(const Network& network, const SampleView& x, MatrixView<const double> targets,
                                const SampleView& test, const EnsembleOptions& options, const Engine& engine);

}  // namespace widelimit
