#pragma once

#include "widelimit/machine/factor/gram_factor.hpp"
#include "widelimit/machine/logistic/softmax_loss.hpp"

namespace widelimit {

/// The samples as vectors of features x = (row of L, κ), κ there only with a bias, and linear functions of them for
/// each class: coordinates are features × classes. A bias is the last feature, which is not regularised; κ² = mean K_ii
/// makes it as long as the others.
class SoftmaxFeatures {
 public:
  SoftmaxFeatures(const GramFactor& factor, double bias_length) : factor_(factor), kappa_(bias_length) {}

  [[nodiscard]] const GramFactor& factor() const { return factor_; }
  [[nodiscard]] double kappa() const { return kappa_; }
  [[nodiscard]] bool has_bias() const { return kappa_ > 0; }
  [[nodiscard]] Index count() const { return factor_.rank() + (has_bias() ? 1 : 0); }
  /// λ, or 0 for the feature of the bias.
  [[nodiscard]] double penalty(Index feature, double lambda) const { return feature < factor_.rank() ? lambda : 0.0; }
  /// X, samples in the order of the pivots.
  [[nodiscard]] EngineMatrix rows() const;
  /// samples × classes.
  [[nodiscard]] Matrix<double> values(const Matrix<double>& coordinates) const;
  /// Its transpose.
  [[nodiscard]] Matrix<double> pull(const Matrix<double>& r) const;
  /// ‖β‖² without the bias, of two sets of coordinates.
  [[nodiscard]] double product(const Matrix<double>& a, const Matrix<double>& b) const;

 private:
  const GramFactor& factor_;
  double kappa_;
};

/// A step Δ of (λ + XᵀWX)Δ = ρ: by Cholesky where there are at most `direct_size` unknowns, else by conjugate gradients
/// with a SoftmaxPreconditioner, `factored` or not, to a residual of `accuracy`·‖ρ‖; ended early it still
/// descends. `iterations` counts those. `progress` may stop it.
/// Cost: O((n + unknowns)·unknowns²), or O(n·rank·classes) for each iteration.
struct SoftmaxStep {
  Matrix<double> move;
  Index iterations = 0;
  /// Estimate of the condition number of what was factored, or, by the Ritz values of the iterations, a lower bound of
  /// that of the Hessian with its preconditioner.
  double condition = 1;
};
inline constexpr Index direct_size = 1500;
struct SoftmaxStepOptions {
  double lambda = 1;
  double accuracy = 0.1;
  Index max_iterations = 1000;
  bool factored = false;
  Progress* progress = nullptr;
};
[[nodiscard]] SoftmaxStep softmax_step(const SoftmaxFeatures& features, const SoftmaxLosses& losses,
                                       const Matrix<double>& pi, const Matrix<double>& rho,
                                       const SoftmaxStepOptions& options);

}  // namespace widelimit
