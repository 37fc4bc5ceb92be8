#pragma once

#include <vector>

namespace widelimit {

/// ∫₋₁¹ f ≈ Σ_q weight_q f(node_q), exact for polynomials of degree < 2·order.
struct GaussLegendre {
  std::vector<double> nodes;  ///< ascending, symmetric about 0
  std::vector<double> weights;
};

/// Newton's iteration on the Legendre polynomial, in long double; good to the last bit for order ≤ 100.  O(order²).
[[nodiscard]] GaussLegendre gauss_legendre(int order);

}  // namespace widelimit
