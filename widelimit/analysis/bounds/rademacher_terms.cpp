#include "widelimit/analysis/bounds/rademacher_terms.hpp"

#include "widelimit/base/error.hpp"

#include <cmath>

namespace widelimit {

namespace {

/// Number of powers of 2 tried on either side of the norm; further away one of the terms exceeds every range.
constexpr int powers_beside = 40;

double stratum_share(int k) {
  const double away = std::abs(k);
  return 2 / (3 * (away + 1) * (away + 2));
}

/// Returns the smallest k with 2ᵏ ≥ x > 0.
int power_above(double x) {
  int k = 0;
  const double mantissa = std::frexp(x, &k);
  return mantissa == 0.5 ? k - 1 : k;
}

double confidence_term(const BoundSetting& setting, Index samples, double share) {
  // Two logarithms, since share·δ can underflow.
  const double log = std::log(2 / setting.delta) - std::log(share);
  return 3 * setting.range * std::sqrt(log / (2 * static_cast<double>(samples)));
}

double complexity_term(const FunctionSize& size, double norm, double offset, double lipschitz) {
  const auto n = static_cast<double>(size.samples);
  const double term = 2 * lipschitz * size.outputs * (norm * std::sqrt(size.trace) / n + offset / std::sqrt(n));
  if (!std::isfinite(term)) {
    fail(Code::numerical, "a bound of norm {:.3g} and trace {:.3g} is beyond float64; scale the kernel", norm,
         size.trace);
  }
  return term;
}

void check_size(const FunctionSize& size) {
  if (size.samples < 1) fail(Code::input, "there are no samples; a bound needs at least one");
  for (const double part : {size.norm, size.offset, size.trace}) {
    if (!(part >= 0) || !std::isfinite(part)) {
      fail(Code::input, "norm {}, offset {} and trace {} must be finite and not negative", size.norm, size.offset,
           size.trace);
    }
  }
}

/// Returns the bound for norm at most 2ᵏ and, with a bias, the smallest sufficient power of 2.
UniformBound stratum_bound(const FunctionSize& size, int k, double scale, double empirical,
                           const BoundSetting& setting) {
  UniformBound bound{.terms = {}, .scale = scale, .radius = std::ldexp(1.0, k), .share = stratum_share(k)};
  double offset = 0;
  if (size.offset > 0) {
    const int j = power_above(scale * size.offset);
    offset = std::ldexp(1.0, j);
    bound.share *= stratum_share(j);
  }
  bound.terms = {.empirical = empirical,
                 .complexity = complexity_term(size, bound.radius, offset, setting.lipschitz),
                 .confidence = confidence_term(setting, size.samples, bound.share)};
  return bound;
}

}  // namespace

void BoundSetting::validate() const {
  if (!(delta > 0 && delta < 1)) fail(Code::input, "delta is {}; choose a number between 0 and 1, such as 0.05", delta);
}

BoundTerms fixed_norm_bound(const FunctionSize& size, double empirical, const BoundSetting& setting) {
  setting.validate();
  check_size(size);
  return {.empirical = empirical,
          .complexity = complexity_term(size, size.norm, size.offset, setting.lipschitz),
          .confidence = confidence_term(setting, size.samples, 1)};
}

UniformBound uniform_bound(const FunctionSize& size, const std::function<double(double)>& empirical, bool rescale,
                           const BoundSetting& setting) {
  setting.validate();
  check_size(size);
  const bool scalable = rescale && size.norm > 0;
  const int own = size.norm > 0 ? power_above(size.norm) : -powers_beside;
  const double as_it_is = empirical(1.0);
  UniformBound best = stratum_bound(size, own, 1.0, as_it_is, setting);
  for (int k = own - powers_beside; k <= own + powers_beside; ++k) {
    if (!scalable && k < own) continue;
    const double scale = scalable ? std::ldexp(1.0, k) / size.norm : 1.0;
    if (!std::isfinite(scale) || scale == 0 || !std::isfinite(std::ldexp(1.0, k))) continue;
    // The bound with zero empirical loss is a lower bound; skips the evaluation of the loss if it does not improve.
    UniformBound bound = stratum_bound(size, k, scale, 0.0, setting);
    if (bound.terms.value() >= best.terms.value()) continue;
    bound.terms.empirical = scalable ? empirical(scale) : as_it_is;
    if (bound.terms.value() < best.terms.value()) best = bound;
  }
  return best;
}

}  // namespace widelimit
