#include "widelimit/engine/reference/activation.hpp"

#include "widelimit/engine/reference/quadrature.hpp"
#include "widelimit/recipe/rectified_monomial.hpp"

#include <numbers>
#include <span>
#include <tuple>
#include <vector>

namespace widelimit::reference {

namespace {

using Real = long double;

/// E[p(u)p(v)] for p = Σ coef_i xⁱ, by the recursion of moments M(i,j) = E[uⁱvʲ] = (i−1)q1·M(i−2,j) + j·c·M(i−1,j−1)
/// (Isserlis).
Real polynomial_sigma(std::span<const double> coef, Real q1, Real q2, Real c) {
  const std::size_t n = coef.size();
  std::vector<Real> moment(n * n, 0);
  Real sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const auto di = static_cast<Real>(i);
      const auto dj = static_cast<Real>(j);
      Real& m = moment[i * n + j];
      if (i == 0) {
        m = j == 0 ? 1 : (j == 1 ? 0 : (dj - 1) * q2 * moment[j - 2]);
      } else {
        if (i >= 2) m += (di - 1) * q1 * moment[(i - 2) * n + j];
        if (j >= 1) m += dj * c * moment[(i - 1) * n + j - 1];
      }
      sum += static_cast<Real>(coef[i]) * static_cast<Real>(coef[j]) * m;
    }
  }
  return sum;
}

DualValue<Real> polynomial_dual(std::span<const double> coef, const GaussianPair<Real>& pair) {
  const auto [q1, q2, c] = std::tuple(pair.q1, pair.q2, pair.c);
  std::vector<double> slope;
  for (std::size_t k = 1; k < coef.size(); ++k) slope.push_back(static_cast<double>(k) * coef[k]);
  return {polynomial_sigma(coef, q1, q2, c), polynomial_sigma(slope, q1, q2, c)};
}

/// (q1q2)^{n/2} J_n(ρ)/2π.
Real rectified_moment(int n, const GaussianPair<Real>& pair) {
  const ArccosinePolynomials j = arccosine_polynomials(n);
  const Real size = geometric_mean(pair.q1, pair.q2);
  const Real rho = size > 0 ? pair.c / size : 0;
  const Real root = size > 0 ? pair.root() / size : 1;
  const Real angular = horner(j.a, rho) * root + horner(j.b, rho) * pair.opening();
  return std::pow(size, n) * angular / (2 * std::numbers::pi_v<Real>);
}

}  // namespace

DualValue<Real> dual_value(const Recipe& recipe, const Dual& dual, const GaussianPair<Real>& pair) {
  switch (dual.phi) {
    case Phi::relu:
      return rectifier_dual<Real>(0, pair);
    case Phi::leaky_relu:
      return rectifier_dual<Real>(dual.parameter, pair);
    case Phi::abs:
      return rectifier_dual<Real>(-1, pair);
    case Phi::erf:
      return erf_dual(pair);
    case Phi::gelu:
      return gelu_dual(pair);
    case Phi::sin:
      return sin_dual(pair);
    case Phi::cos:
      return cos_dual(pair);
    case Phi::sign:
      return sign_dual(pair);
    case Phi::exp:
      return exp_dual(pair);
    case Phi::gaussian:
      return gaussian_dual(pair);
    case Phi::rbf:
      return rbf_dual<Real>(dual.parameter, pair);
    case Phi::hermite:
      return hermite_dual(dual.degree, pair.c);
    case Phi::identity:
      return {pair.c, 1};
    case Phi::monomial: {
      std::vector<double> coef(static_cast<std::size_t>(dual.degree) + 1, 0.0);
      coef.back() = 1;
      return polynomial_dual(coef, pair);
    }
    case Phi::polynomial:
      return polynomial_dual({recipe.constants.data() + dual.first, static_cast<std::size_t>(dual.count)}, pair);
    case Phi::rectified_monomial: {
      const int n = dual.degree;
      if (n == 0 && !(pair.q1 > 0 && pair.q2 > 0))
        return {(pair.q1 > 0 ? Real(0.5) : 1) * (pair.q2 > 0 ? Real(0.5) : 1), 0};  // φ(0) = 1
      const Real slope = n == 0 ? 0 : static_cast<Real>(n) * n * rectified_moment(n - 1, pair);
      return {rectified_moment(n, pair), slope};
    }
    case Phi::tanh:
    case Phi::sigmoid:
    case Phi::swish:
    case Phi::softplus:
    case Phi::custom:
      return quadrature_dual(recipe, dual, pair, 0).value;
  }
  return {0, 0};
}

}  // namespace widelimit::reference
