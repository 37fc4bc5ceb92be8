#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <limits>
#include <span>
#include <vector>

namespace widelimit {

/// Weights of the pairs (i, j) of K⁽⁴⁾(x,x',i,j) at time t: with r(s) = e^{−sH}r₀, H = PDPᵀ and r̃ = Pᵀr₀,
///
///     M = ∫₀ᵗ r(u) (∫₀ᵘ r(s) ds)ᵀ du = P [r̃_ir̃_j (φ(D_i) − φ(D_i + D_j))/D_j] Pᵀ,   φ(D) = (1 − e^{−tD})/D.
///
/// M + Mᵀ = ααᵀ with α = ∫₀ᵗ r = Pφ(D)r̃. At t = ∞, M = P[r̃_ir̃_j/(D_i(D_i + D_j))]Pᵀ and α = H⁻¹r₀; the numerical
/// null space of H is then not learned and has weight 0. [docs/theory/tangent-hierarchy.md]
struct LabelWeights {
  Matrix<double> pairs;              ///< M
  std::vector<double> coefficients;  ///< α
  Index unlearnt = 0;                ///< number of eigenvalues of H within rounding of 0
};

/// Computes the weights. Throws Error{numerical} if H has a negative eigenvalue. O(n³) time, 6n² doubles.
[[nodiscard]] LabelWeights label_weights(const GramMatrix& h, std::span<const double> residual, Progress* progress,
                                         double time = std::numeric_limits<double>::infinity());

}  // namespace widelimit
