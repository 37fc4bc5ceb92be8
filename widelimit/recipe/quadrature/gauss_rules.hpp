#pragma once

#include <vector>

namespace widelimit {

/// ∫₋₁¹ f ≈ Σ_q weight_q f(node_q), exact for polynomials of degree < 2·order.
struct GaussLegendre {
  std::vector<double> nodes;  ///< ascending, symmetric about 0
  std::vector<double> weights;
};

/// Newton's method on the Legendre polynomial, in long double; accurate to the last bit for order ≤ 100.  O(order²).
[[nodiscard]] GaussLegendre gauss_legendre(int order);

/// Gauss–Hermite rule for the standard normal weight: E[f(z)] ≈ Σ_q weight_q f(node_q), exact for polynomials of
/// degree < 2·order.
struct GaussHermite {
  std::vector<long double> nodes;    ///< ascending, symmetric about 0
  std::vector<long double> weights;  ///< sum 1
};

/// Eigenvalues of the Jacobi matrix of the Hermite polynomials by Sturm bisection; order ≤ 512.  O(order²·64).
[[nodiscard]] GaussHermite gauss_hermite(int order);

/// values[k] = h_k(z), the normalised probabilists' Hermite polynomials, E[h_j(z)h_k(z)] = δ_jk, for k < count:
/// h_{k+1} = (z h_k − √k h_{k−1})/√(k+1).
void hermite_polynomials(long double z, int count, long double* values);

}  // namespace widelimit
