#include "widelimit/engine/reference/quadrature.hpp"

#include "widelimit/engine/reference/activation.hpp"
#include "widelimit/recipe/quadrature/pair_mean.hpp"

#include <cmath>

namespace widelimit::reference {

namespace {

const Pointwise& function_of(const Recipe& recipe, const Dual& dual) {
  return *recipe.functions[static_cast<std::size_t>(dual.function)];
}

double value_at_zero(const Pointwise& phi) {
  const double x = 0;
  double y = 0;
  phi.value({&x, 1}, {&y, 1});
  return y;
}

/// E[φ(u)] by a sample; φ(0) where there is no deviation.
long double mean(const Pointwise& phi, long double q) {
  if (!(q > 0)) return value_at_zero(phi);
  const GaussianSample sample = sample_gaussian(phi, static_cast<double>(std::sqrt(q)));
  long double sum = 0;
  for (std::size_t k = 0; k < sample.z.size(); ++k) {
    sum += static_cast<long double>(sample.weight[k]) * (static_cast<long double>(sample.above[k]) + sample.below[k]);
  }
  return sum;
}

}  // namespace

DualValue<long double> quadrature_dual(const Recipe& recipe, const Dual& dual, long double q1, long double q2,
                                       long double c) {
  const Pointwise& phi = function_of(recipe, dual);
  if (!(q1 > 0) || !(q2 > 0)) return {mean(phi, q1) * mean(phi, q2), 0};  // one of the two is a constant
  const long double rho = correlation(q1, q2, c);
  const GaussianSample first = sample_gaussian(phi, static_cast<double>(std::sqrt(q1)));
  const GaussianSample second = sample_gaussian(phi, static_cast<double>(std::sqrt(q2)));
  const PairMean found = pair_mean(first, second, static_cast<double>(1 - std::abs(rho)), rho >= 0);
  // Near ±1 the digits of 1 − |ρ| count in the layers to come.
  const long double size = std::sqrt(first.square) * std::sqrt(second.square);
  const long double near = std::copysign(size * (1 - static_cast<long double>(found.apart)), found.sigma);
  return {found.apart < 0.5 ? near : static_cast<long double>(found.sigma), found.dot};
}

DualError dual_error(const Recipe& recipe, const Dual& dual, long double q) {
  if (dual.function < 0) {
    return closed_form_growth([&](long double at) { return dual_value(recipe, dual, at, at, at); }, q);
  }
  if (!(q > 0)) return {};
  const GaussianSample sample = sample_gaussian(function_of(recipe, dual), static_cast<double>(std::sqrt(q)));
  constexpr double rule = 0x1p-50;  // of pair_mean, tested
  return {2 * sample.error + rule, 2 * sample.slope_error + rule, sample.growth / 2, sample.slope_growth / 2};
}

}  // namespace widelimit::reference
