#pragma once

#include "widelimit/machine/logistic/softmax_newton.hpp"

#include <vector>

namespace widelimit {

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
  [[nodiscard]] static Index iterations_worth(const SoftmaxFeatures& features, Index classes);

 private:
  const Algebra& algebra_;
  std::vector<double> diagonal_;
  EngineMatrix factor_;  ///< empty if the diagonal is used
};

}  // namespace widelimit
