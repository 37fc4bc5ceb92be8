#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <optional>
#include <vector>

namespace widelimit {

struct ConjugateGradientOptions {
  double lambda = 1;
  bool bias = false;
  std::span<const double> weights = {};
  /// Tolerance on ‖r‖/‖y‖ of the linear system, for each output. The duality gap is ‖r‖²/primal, and ‖r‖ bounds the
  /// error of the outputs on the training samples, since K(K + λ/2·I)⁻¹ is a contraction.
  double tolerance = 1e-6;
  Index max_iterations = 500;         ///< at most 100,000
  std::optional<Index> rank;          ///< rank of the preconditioner, 0 for none; default: chosen by cost
  std::optional<std::size_t> memory;  ///< memory limit of the preconditioner in bytes
  Progress* progress = nullptr;

  void validate() const;
};

struct ConjugateGradientFit {
  Fit fit;
  std::vector<double> residuals;  ///< after each iteration, the maximum over all outputs
  Matrix<double> decisions;       ///< g on the training samples, from a product with K
  Index rank = 0;                 ///< rank of the preconditioner
};

/// Solves the problem of fit_ridge with products by K only; K need not be stored. Conjugate gradients on S K S + λ/2·I
/// for all outputs at once, one block product per step, with a low-rank preconditioner. Converged outputs leave the
/// block. The summary is computed as in fit_ridge, from an additional product instead of the recursion. Stops at the
/// iteration limit with the last iterate, or if a direction p with pᵀAp ≤ 0 shows that the matrix is not positive
/// definite. Progress counts pairs of samples, over the number of products predicted from the current residual. Each
/// step costs a product and O(n rank outputs); n·(rank + 6 outputs) doubles plus the memory of the product.
/// [docs/theory/machines.md]
[[nodiscard]] ConjugateGradientFit conjugate_gradients(const GramMatrix& k, MatrixView<const double> targets,
                                                       const ConjugateGradientOptions& options = {});

}  // namespace widelimit
