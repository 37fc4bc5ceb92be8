#include "widelimit/engine/reference/quadrature.hpp"

#include "widelimit/engine/reference/activation.hpp"
#include "widelimit/recipe/quadrature/pair_mean.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

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
