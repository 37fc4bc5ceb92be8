#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/machine/factor/cholesky.hpp"
#include "widelimit/machine/fit.hpp"

#include <span>
#include <utility>
#include <vector>

namespace widelimit {

struct GaussianProcessOptions {
  double noise = 0;  ///< variance σ² of the observation noise; finite, ≥ 0
  /// Test first whether K is positive semi-definite, as in SvmOptions.
  bool check_definite = true;
  Progress* progress = nullptr;

  void validate() const;
};

/// Posterior of f at test points; add the noise variance to obtain that of an observation.
struct Posterior {
  Matrix<double> mean;             ///< test × outputs
  std::vector<double> variance;    ///< one per test point, the same for all outputs, ≥ 0
  Matrix<double> covariance = {};  ///< test × test, the same for all outputs; empty unless requested
};

/// Returns K** − K*ᵀ(K + σ²I)⁻¹K* at test points, clamped to ≥ 0, from the factor U of K + σ²I = UᵀU on an engine,
/// K(test, train), and K(x, x) of the test points. Throws Error{input} if shapes do not match or entries are not
/// finite. O(n²) per test point.
[[nodiscard]] std::vector<double> posterior_variance(const EngineMatrix& factor, const Engine& engine,
                                                     const AnyView& test_by_train,
                                                     std::span<const double> test_diagonal);

/// Returns the full matrix K** − K*ᵀ(K + σ²I)⁻¹K*, exactly symmetric, with its diagonal clamped to ≥ 0, from
/// K(test, train) and K(test, test). Throws as posterior_variance. O(n²·test + n·test²), and n·test doubles.
[[nodiscard]] Matrix<double> posterior_covariance(const EngineMatrix& factor, const Engine& engine,
                                                  const AnyView& test_by_train, const AnyView& test_by_test);

/// Replaces a covariance with rounding errors by its symmetric part, with a diagonal ≥ 0.
void make_covariance(MatrixView<double> covariance);

/// Gaussian process regression. A network of infinite width before training is a Gaussian process f with covariance K,
/// its NNGP kernel; this class conditions f on y = f(x) + σ·noise on the training samples. Outputs are independent with
/// the same K:
///
///     mean = K*ᵀ(K + σ²I)⁻¹y,   variance = K** − K*ᵀ(K + σ²I)⁻¹K*,
///     log p(y) = −½ yᵀ(K + σ²I)⁻¹y − ½ log det(K + σ²I) − n/2·log 2π.
///
/// The mean equals that of ridge regression with λ = 2σ². O(n³/3), then O(n²) per test point; n² doubles.
class GaussianProcess {
 public:
  GaussianProcess(const GramMatrix& k, MatrixView<const double> targets, const GaussianProcessOptions& options = {});

  /// The fit as a kernel machine: α = (K + σ²I)⁻¹y. If it did not converge, likelihood and posterior are undefined.
  [[nodiscard]] const Fit& fit() const& { return fit_; }
  [[nodiscard]] Fit fit() && { return std::move(fit_); }
  /// log p(y) of each output; the joint value is their sum. Empty if the fit failed.
  [[nodiscard]] const std::vector<double>& log_marginal_likelihood() const { return likelihood_; }
  /// Returns mean and variance from K(test, train) and K(x, x) of the test points. Throws Error{input} if shapes do not
  /// match or entries are not finite, Error{numerical} if the fit failed.
  [[nodiscard]] Posterior posterior(const AnyView& test_by_train, std::span<const double> test_diagonal) const;
  /// Same as posterior, with the covariance between test points, from K(test, test).
  [[nodiscard]] Posterior joint_posterior(const AnyView& test_by_train, const AnyView& test_by_test) const;

 private:
  Fit fit_;
  std::vector<double> likelihood_;
  const Engine& engine_;
  EngineMatrix factor_;  ///< U of K + σ²I = UᵀU
};

}  // namespace widelimit
