#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// How labels weigh the pairs (i, j) of K⁽⁴⁾(x,x',i,j) once a network is trained to the end: with the residual
/// r(t) = e^{−tH}y of centred training, H = PDPᵀ and ỹ = Pᵀy,
///
///     M = ∫₀^∞ r(t) (∫₀ᵗ r(s) ds)ᵀ dt = P [ỹ_iỹ_j/(D_i(D_i + D_j))] Pᵀ,   M + Mᵀ = H⁻¹yyᵀH⁻¹.
///
/// [docs/theory/tangent-hierarchy.md]. Directions in which H is 0 up to rounding are not learnt and weigh nothing.
struct LabelWeights {
  Matrix<double> pairs;              ///< M
  std::vector<double> coefficients;  ///< H⁻¹y
  Index unlearnt = 0;                ///< eigenvalues of H that may be rounding
};

/// Error{numerical} where H has a negative eigenvalue.  O(n³), and 6n² doubles.
[[nodiscard]] LabelWeights label_weights(const GramMatrix& h, std::span<const double> y, Progress* progress);

}  // namespace widelimit
