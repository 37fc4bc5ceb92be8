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
  /// ‖r‖/‖y‖ of the linear system, of every output. The duality gap is ‖r‖²/primal, and ‖r‖ bounds the error of
  /// the outputs on the training samples, since K(K + λ/2·I)⁻¹ is a contraction.
  double tolerance = 1e-6;
  Index max_iterations = 500;         ///< at most 100,000
  std::optional<Index> rank;          ///< of the preconditioner, 0 for none; default: chosen by cost
  std::optional<std::size_t> memory;  ///< bytes of the preconditioner
  Progress* progress = nullptr;

  void validate() const;
};

struct ConjugateGradientFit {
  Fit fit;
  std::vector<double> residuals;  ///< after each iteration, the largest of all outputs
  Matrix<double> decisions;       ///< g on the training samples, from a product with K
  Index rank = 0;                 ///< of the preconditioner
};

/// fit_ridge by products with K alone, whether or not it is held: conjugate gradients on S K S + λ/2·I, all outputs in
/// one product a step, with a preconditioner of low rank. Converged outputs are dropped from the product. The summary's
/// numbers are those of fit_ridge, from one more product, not from the recursion. Stops at the iteration limit with the
/// best iterate, or where a direction p with pᵀAp ≤ 0 shows that the matrix is not positive definite. Progress counts
/// pairs of samples, over as many products as the present residual predicts.  A product and O(n rank outputs) a step;
/// n·(rank + 6 outputs) doubles besides those of the product. [docs/theory/machines.md]
[[nodiscard]] ConjugateGradientFit conjugate_gradients(const GramMatrix& k, MatrixView<const double> targets,
                                                       const ConjugateGradientOptions& options = {});

}  // namespace widelimit
