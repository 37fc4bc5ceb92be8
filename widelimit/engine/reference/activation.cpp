#include "widelimit/engine/reference/activation.hpp"

#include "widelimit/engine/reference/quadrature.hpp"
#include "widelimit/recipe/rectified_monomial.hpp"

#include <numbers>
#include <span>
#include <vector>

namespace widelimit::reference {

namespace {

using Real = long double;

/// E[p(u)p(v)] for p = Σ coef_i xⁱ, from the moments M(i,j) = E[uⁱvʲ] = (i−1)q1·M(i−2,j) + j·c·M(i−1,j−1) (Isserlis).
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

DualValue<Real> polynomial_dual(std::span<const double> coef, Real q1, Real q2, Real c) {
  std::vector<double> slope;
  for (std::size_t k = 1; k < coef.size(); ++k) slope.push_back(static_cast<double>(k) * coef[k]);
  return {polynomial_sigma(coef, q1, q2, c), polynomial_sigma(slope, q1, q2, c)};
}

/// (q1q2)^{n/2} J_n(ρ)/2π.
Real rectified_moment(int n, Real q1, Real q2, Real c) {
  const Real pi = std::numbers::pi_v<Real>;
  const ArcCosine j = arc_cosine(n);
  const Real rho = correlation(q1, q2, c);
  const Real angular = horner(j.a, rho) * std::sqrt((1 - rho) * (1 + rho)) + horner(j.b, rho) * (pi - std::acos(rho));
  return std::pow(std::sqrt(q1) * std::sqrt(q2), n) * angular / (2 * pi);
}

}  // namespace

DualValue<Real> dual_value(const Recipe& recipe, const Dual& dual, Real q1, Real q2, Real c) {
  switch (dual.phi) {
    case Phi::relu:
      return rectifier_dual<Real>(0, q1, q2, c);
    case Phi::leaky_relu:
      return rectifier_dual<Real>(dual.parameter, q1, q2, c);
    case Phi::abs:
      return rectifier_dual<Real>(-1, q1, q2, c);
    case Phi::erf:
      return erf_dual(q1, q2, c);
    case Phi::gelu:
      return gelu_dual(q1, q2, c);
    case Phi::sin:
      return sin_dual(q1, q2, c);
    case Phi::cos:
      return cos_dual(q1, q2, c);
    case Phi::sign:
      return sign_dual(q1, q2, c);
    case Phi::exp:
      return exp_dual(q1, q2, c);
    case Phi::gaussian:
      return gaussian_dual(q1, q2, c);
    case Phi::rbf:
      return rbf_dual<Real>(dual.parameter, q1, q2, c);
    case Phi::hermite:
      return hermite_dual(dual.degree, c);
    case Phi::identity:
      return {c, 1};
    case Phi::monomial: {
      std::vector<double> coef(static_cast<std::size_t>(dual.degree) + 1, 0.0);
      coef.back() = 1;
      return polynomial_dual(coef, q1, q2, c);
    }
    case Phi::polynomial:
      return polynomial_dual({recipe.constants.data() + dual.first, static_cast<std::size_t>(dual.count)}, q1, q2, c);
    case Phi::rectified_monomial: {
      const int n = dual.degree;
      if (n == 0 && !(q1 > 0 && q2 > 0)) return {(q1 > 0 ? Real(0.5) : 1) * (q2 > 0 ? Real(0.5) : 1), 0};  // φ(0) = 1
      const Real slope = n == 0 ? 0 : static_cast<Real>(n) * n * rectified_moment(n - 1, q1, q2, c);
      return {rectified_moment(n, q1, q2, c), slope};
    }
    case Phi::tanh:
    case Phi::sigmoid:
    case Phi::swish:
    case Phi::softplus:
    case Phi::custom:
      return quadrature_dual(recipe, dual, q1, q2, c);
  }
  return {0, 0};
}

}  // namespace widelimit::reference
