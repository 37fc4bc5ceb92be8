#pragma once

#include "widelimit/machine/factor/gram_factor.hpp"
#include "widelimit/machine/logistic/softmax_loss.hpp"

#include <vector>

namespace widelimit {

/// Samples as feature vectors x = (row of L, κ), κ only with a bias, and linear functions of them per class:
/// coordinates are features × classes. The bias is the last feature and is not regularised; κ² = mean K_ii gives it the
/// same scale as the others.
class SoftmaxFeatures {
 public:
  SoftmaxFeatures(const GramFactor& factor, double bias_length) : factor_(factor), kappa_(bias_length) {}

  [[nodiscard]] const GramFactor& factor() const { return factor_; }
  [[nodiscard]] double kappa() const { return kappa_; }
  [[nodiscard]] bool has_bias() const { return kappa_ > 0; }
  [[nodiscard]] Index count() const { return factor_.rank() + (has_bias() ? 1 : 0); }
  /// Returns λ, or 0 for the bias feature.
  [[nodiscard]] double penalty(Index feature, double lambda) const { return feature < factor_.rank() ? lambda : 0.0; }
  /// Returns X, with samples in pivot order.
  [[nodiscard]] EngineMatrix rows() const;
  /// Returns the values, samples × classes.
  [[nodiscard]] Matrix<double> values(const Matrix<double>& coordinates) const;
  /// Computes the transpose of `values`.
  [[nodiscard]] Matrix<double> pull(const Matrix<double>& r) const;
  /// Returns the inner product of two sets of coordinates, without the bias.
  [[nodiscard]] double product(const Matrix<double>& a, const Matrix<double>& b) const;

 private:
  const GramFactor& factor_;
  double kappa_;
};

/// Preconditioner for the Hessian λ + XᵀWX of softmax: the same for all classes, with the curvatures πᵢ(1 − πᵢ)
/// averaged over classes, so that it preserves vectors whose classes sum to 0.
class SoftmaxPreconditioner {
 public:
  /// Uses the diagonal or, if `factored`, the full matrix λ + Xᵀdiag(v̄)X, which captures the eigenvectors of K.
  /// O(n·features), or O(n·features²).
  SoftmaxPreconditioner(const SoftmaxFeatures& features, const SoftmaxLosses& losses, const Matrix<double>& pi,
                        double lambda, bool factored, Progress* progress);
  [[nodiscard]] Matrix<double> apply(const Matrix<double>& r) const;

  /// Returns the number of iterations with the diagonal that cost as much as the factor.
  [[nodiscard]] static Index iterations_per_factorisation(const SoftmaxFeatures& features, Index classes);

 private:
  const Algebra& algebra_;
  std::vector<double> diagonal_;
  EngineMatrix factor_;  ///< empty if the diagonal is used
};

/// Newton step Δ from (λ + XᵀWX)Δ = ρ: by Cholesky for at most `direct_size` unknowns, else by conjugate gradients with
/// a SoftmaxPreconditioner (`factored` or diagonal) to a residual of `accuracy`·‖ρ‖. If stopped early, Δ is still a
/// descent direction. `iterations` counts those of conjugate gradients. `progress` can interrupt it.
/// O((n + unknowns)·unknowns²), or O(n·rank·classes) per iteration.
struct SoftmaxStep {
  Matrix<double> move;
  Index iterations = 0;
  /// Estimated condition number of the factorised matrix or, from the Ritz values of the iterations, a lower bound of
  /// that of the preconditioned Hessian.
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
