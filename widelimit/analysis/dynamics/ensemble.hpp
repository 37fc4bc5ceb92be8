#pragma once

#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/summary.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace widelimit {

struct EnsembleOptions {
  Kind kind = Kind::ntk;  ///< ntk: all layers that are not frozen are trained; nngp: the last alone
  /// ≥ 0; infinity is the end of training.
  std::vector<double> times = {std::numeric_limits<double>::infinity()};
  double lambda = 0;    ///< of λ/2‖w − w₀‖², the distance to the initial weights; finite, ≥ 0
  double diag_reg = 0;  ///< the same by 2·diag_reg times the mean of the diagonal of Θ, added to λ; finite, ≥ 0
  bool covariance = false;               ///< between test points, not the variance of each alone
  Precision precision = Precision::f64;  ///< of kernels
  std::optional<std::size_t> memory;     ///< bytes in all; default: the available memory
  Progress* progress = nullptr;

  /// Error{input} where a number is out of range.
  void validate() const;
};

/// Kernels that an ensemble is made of, all borrowed.
struct EnsembleKernels {
  GramMatrix trained;                   ///< Θ of the training samples: the NTK, or the NNGP kernel of the last layer
  GramMatrix prior;                     ///< K, the NNGP kernel of the training samples
  AnyView test_trained;                 ///< Θ(test, train)
  AnyView test_prior;                   ///< K(test, train)
  std::vector<double> test_variance;    ///< K(x, x) of test points
  std::optional<AnyView> test_by_test;  ///< K(test, test), for a covariance
};

/// Outputs of infinitely wide networks of random initial weights on test points: a Gaussian at each time, with the same
/// covariance for all outputs.
struct Ensemble {
  std::vector<double> times;
  Index outputs = 0;
  Matrix<double> mean;          ///< moments × (test points·outputs), the outputs of a point side by side
  Matrix<double> variance;      ///< moments × test points, ≥ 0
  Matrix<double> covariance;    ///< (moments·test points) × test points, a symmetric block a moment, where asked for
  double quadrature_error = 0;  ///< of the kernels, where they were computed here
  Summary summary;              ///< not_positive_definite, and no moment, where Θ has a negative eigenvalue
};

/// All networks of an architecture, trained by gradient flow on Σ(y − f)² + λ/2‖w − w₀‖². f is
///
///     f_t(x) = f₀(x) + A_t(x)(y − f₀(X)),   A_t = Θ_* (Θ + λ/2·I)⁻¹(I − e^{−(2Θ + λI)t}),
///
/// and f₀ a Gaussian process of covariance K, so that at time t
///
///     mean = A y,   covariance = K** − A K*ᵀ − K* Aᵀ + A K Aᵀ.
///
/// [docs/theory/dynamics.md]. Directions in which Θ is 0 up to rounding are not learnt at λ = 0.
/// O(n³) once, then O(n²·test) for each time, and n·test² with covariances; 5n² doubles and 5n·test.
[[nodiscard]] Ensemble ensemble(const EnsembleKernels& kernels, MatrixView<const double> targets,
                                const EnsembleOptions& options);
/// The same of a network, whose kernels are computed first.
[[nodiscard]] Ensemble ensemble(const Network& network, const SampleView& x, MatrixView<const double> targets,
                                const SampleView& test, const EnsembleOptions& options, const Engine& engine);

}  // namespace widelimit
