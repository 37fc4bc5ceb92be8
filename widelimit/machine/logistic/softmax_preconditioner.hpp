#pragma once

#include "widelimit/machine/logistic/softmax_newton.hpp"

#include <vector>

namespace widelimit {

/// An approximation of the Hessian λ + XᵀWX of softmax for conjugate gradients: the same for all classes, with the
/// curvatures πᵢ(1 − πᵢ) averaged over them, so that vectors whose classes sum to 0 stay so.
class SoftmaxPreconditioner {
 public:
  /// Its diagonal, or, where `factored`, all of λ + Xᵀdiag(v̄)X, which knows the eigenvectors of K.  O(n·features), or
  /// O(n·features²).
  SoftmaxPreconditioner(const SoftmaxFeatures& features, const SoftmaxLosses& losses, const Matrix<double>& pi,
                        double lambda, bool factored, Progress* progress);
  [[nodiscard]] Matrix<double> apply(const Matrix<double>& r) const;

  /// Iterations with the diagonal that cost as much as the factor.
  [[nodiscard]] static Index iterations_worth(const SoftmaxFeatures& features, Index classes);

 private:
  const Algebra& algebra_;
  std::vector<double> diagonal_;
  EngineMatrix factor_;  ///< empty where it is the diagonal
};

}  // namespace widelimit
