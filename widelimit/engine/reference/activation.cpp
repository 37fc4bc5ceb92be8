#include "widelimit/engine/reference/activation.hpp"

#include "widelimit/recipe/quadrature/pair_mean.hpp"
#include "widelimit/recipe/rectified_monomial.hpp"

#include <algorithm>
#include <cmath>
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

const Pointwise& function_of(const Recipe& recipe, const Dual& dual) {
  return *recipe.functions[static_cast<std::size_t>(dual.function)];
}

double value_at_zero(const Pointwise& phi) {
  const double x = 0;
  double y = 0;
  phi.value({&x, 1}, {&y, 1});
  return y;
}

/// E[φ(u)] by quadrature; φ(0) if q = 0.
long double mean(const Pointwise& phi, long double q) {
  if (!(q > 0)) return value_at_zero(phi);
  const GaussianSample sample = sample_gaussian(phi, static_cast<double>(std::sqrt(q)));
  long double sum = 0;
  for (std::size_t k = 0; k < sample.z.size(); ++k) {
    sum += static_cast<long double>(sample.weight[k]) * (static_cast<long double>(sample.above[k]) + sample.below[k]);
  }
  return sum;
}

/// d log E[φ²]/d log s = E[(z² − 1)φ²]/E[φ²], signed.
long double growth_of(const GaussianSample& sample) {
  long double sum = 0;
  for (std::size_t k = 0; k < sample.z.size(); ++k) {
    const auto z = static_cast<long double>(sample.z[k]);
    const auto above = static_cast<long double>(sample.above[k]);
    const auto below = static_cast<long double>(sample.below[k]);
    sum += static_cast<long double>(sample.weight[k]) * (z * z - 1) * (above * above + below * below);
  }
  return sample.square > 0 ? sum / sample.square : 0;
}

/// E|d| for a normal d with this mean and standard deviation.
long double mean_distance(long double mean, long double deviation) {
  if (!(deviation > 0)) return std::abs(mean);
  const long double ratio = mean / deviation;
  return deviation * std::sqrt(2 / std::numbers::pi_v<long double>) * std::exp(-ratio * ratio / 2) +
         mean * std::erf(ratio / std::numbers::sqrt2_v<long double>);
}

/// Contribution of the jumps of φ to E[(φ(u) − φ(v))²]/2 for v close to u: a jump J at e lies between them with
/// probability density(e)·E|u − v|, where u − v has mean e·(d log s) and variance 2(rr' − |c|).
long double jump_share(const Pieces& pieces, long double s, long double gap, long double log_ratio) {
  const std::vector<Piece>& list = pieces.list;
  long double sum = 0;
  for (std::size_t k = 0; k + 1 < list.size(); ++k) {
    const long double edge = list[k].right;
    if (!std::binary_search(pieces.edges.begin(), pieces.edges.end(), list[k].right)) continue;
    const long double jump = list[k + 1].at(list[k].right).value - list[k].at(list[k].right).value;
    const long double density =
        std::exp(-edge * edge / (2 * s * s)) / (s * std::sqrt(2 * std::numbers::pi_v<long double>));
    sum += jump * jump / 2 * density * mean_distance(edge * log_ratio / 2, std::sqrt(2 * gap));
  }
  return sum;
}

/// 1 − |ρ_new| of a pair. If u and v are closer than double precision resolves, uses the first-order expansion:
/// E[φ'(u)φ'(v)]·(rr' − |c|)/RR' for the correlation, stretch·(d log s)²/2 for the deviations, and the contribution of
/// jumps. At ρ = −1 it holds only for even and odd φ.
long double apart_of(const GaussianSample& first, const GaussianSample& second, const PairMean& found, long double gap,
                     long double log_ratio) {
  const long double size = std::sqrt(first.square) * std::sqrt(second.square);
  const long double product = static_cast<long double>(first.deviation) * second.deviation;
  if (!(size > 0) || gap / product + log_ratio * log_ratio > 0x1p-53L) return found.apart;
  const long double stretch = (static_cast<long double>(first.stretch) + second.stretch) / 2;
  const long double near =
      (std::abs(found.dot) * gap + jump_share(*first.pieces, std::sqrt(product), gap, log_ratio)) / size +
      stretch * log_ratio * log_ratio / 8;
  constexpr long double noise = 0x1p-100L;  // squared rounding errors
  return found.apart < 2 * near + noise ? near : found.apart;
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

QuadratureDual quadrature_dual(const Recipe& recipe, const Dual& dual, const GaussianPair<long double>& pair,
                               long double excess) {
  const Pointwise& phi = function_of(recipe, dual);
  if (!(pair.q1 > 0) || !(pair.q2 > 0)) return {{mean(phi, pair.q1) * mean(phi, pair.q2), 0}};  // one is constant
  const GaussianSample first = sample_gaussian(phi, static_cast<double>(std::sqrt(pair.q1)));
  const GaussianSample second = sample_gaussian(phi, static_cast<double>(std::sqrt(pair.q2)));
  const long double gap = std::min(pair.minus, pair.plus);
  const PairMean found =
      pair_mean(first, second, static_cast<double>(gap / geometric_mean(pair.q1, pair.q2)), pair.c >= 0);
  const long double log_ratio = std::log1p(excess / pair.q2);
  const long double apart = apart_of(first, second, found, gap, log_ratio);
  const long double size = std::sqrt(first.square) * std::sqrt(second.square);
  const long double near = std::copysign(size * (1 - apart), static_cast<long double>(found.sigma));
  constexpr long double close = 0x1p-16L;
  const long double growth = (growth_of(first) + growth_of(second)) / 2;
  return {{apart < 0.5L ? near : static_cast<long double>(found.sigma), found.dot},
          size * apart,
          std::abs(log_ratio) < close ? size * growth * log_ratio / 2 : first.square - second.square};
}

DualError dual_error(const Recipe& recipe, const Dual& dual, long double q) {
  if (dual.function < 0) {
    return closed_form_growth([&](long double at) { return dual_value(recipe, dual, {at, at, at}); }, q);
  }
  if (!(q > 0)) return {};
  const GaussianSample sample = sample_gaussian(function_of(recipe, dual), static_cast<double>(std::sqrt(q)));
  constexpr double rule = 0x1p-50;  // error of pair_mean, verified by tests
  return {2 * sample.error + rule, 2 * sample.slope_error + rule, sample.growth / 2, sample.slope_growth / 2};
}

}  // namespace widelimit::reference
