#pragma once

#include <vector>

namespace widelimit {

/// φ(x) = xⁿ·1[x ≥ 0]:  E[φφ] = (q1q2)^{n/2} J_n(ρ)/2π,  E[φ'φ'] = n²(q1q2)^{(n−1)/2} J_{n−1}(ρ)/2π, where Cho & Saul's
/// J_n(ρ) = A_n(ρ)·√(1−ρ²) + B_n(ρ)·(π − arccos ρ) with polynomials A_n, B_n.
///
/// Price's theorem, dE[φφ]/dc = E[φ'φ'], gives J_n' = n²J_{n−1}, hence B_n' = n²B_{n−1} with B_n(1) = (2n−1)!! (two
/// equal inputs: E[u^{2n}]/2), and (1−ρ²)A_n' − ρA_n + B_n = n²(1−ρ²)A_{n−1}, solved by comparing coefficients.
struct ArccosinePolynomials {
  std::vector<double> a;  ///< A_n, lowest power first
  std::vector<double> b;  ///< B_n
};

/// Exact for n ≤ 8, since all coefficients are integers below 2^53.
[[nodiscard]] ArccosinePolynomials arccosine_polynomials(int n);

/// (2n−1)!! = J_n(1)/π.
[[nodiscard]] double odd_factorial(int n);

template <typename T>
T horner(const std::vector<double>& coefficients, T x) {
  T value = 0;
  for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) value = value * x + static_cast<T>(*c);
  return value;
}

}  // namespace widelimit
