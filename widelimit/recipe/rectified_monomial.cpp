#include "widelimit/recipe/rectified_monomial.hpp"

namespace widelimit {

double odd_factorial(int n) {
  double product = 1;
  for (int k = 1; k <= n; ++k) product *= 2 * k - 1;
  return product;
}

ArccosinePolynomials arccosine_polynomials(int n) {
  ArccosinePolynomials j{{}, {1.0}};  // J_0 = π − arccos ρ
  for (int order = 1; order <= n; ++order) {
    const double square = static_cast<double>(order) * order;
    ArccosinePolynomials next;
    next.b.assign(j.b.size() + 1, 0.0);
    for (std::size_t k = 0; k < j.b.size(); ++k) next.b[k + 1] = square * j.b[k] / static_cast<double>(k + 1);
    next.b[0] = odd_factorial(order) - horner(next.b, 1.0);

    // Coefficient of ρᵏ in the equation for A_n: (k+1)a_{k+1} = k·a_{k−1} − b_k + n²(a'_k − a'_{k−2}), where a' are the
    // coefficients of A_{n−1} and a_{−1} = 0. A_n has the parity of n−1. The recursion starts at the top power, k = n:
    // 0 = n·a_{n−1} − b_n − n²·a'_{n−2}, and goes downwards to a_0 or a_1.
    const auto previous = [&](int k) {
      return k >= 0 && k < static_cast<int>(j.a.size()) ? j.a[static_cast<std::size_t>(k)] : 0.0;
    };
    next.a.assign(static_cast<std::size_t>(order), 0.0);
    const auto a = [&](int k) { return k >= 0 && k < order ? next.a[static_cast<std::size_t>(k)] : 0.0; };
    for (int k = order; k >= 1; k -= 2) {
      const double b = next.b[static_cast<std::size_t>(k)];
      next.a[static_cast<std::size_t>(k - 1)] = ((k + 1) * a(k + 1) + b - square * (previous(k) - previous(k - 2))) / k;
    }
    j = next;
  }
  return j;
}

}  // namespace widelimit
