#include "widelimit/certificate/interval_sides.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// A lower bound of H as factor·κ(u) + constant.
struct LowPlace {
  double u = 0;
  double factor = 0;
  double constant = 0;
};

constexpr double surely = 1 + 0x1p-50;  // more than what products and quotients lose
constexpr double turn = 0x1p-26;        // κ's lowest place is known to so much

/// κ is least in [a_low, a_high]/N at the end nearest to its lowest place, or there.
LowPlace on_row(const ConeKernel& kernel, double low, double high, double norm) {
  const double left = ratio_below(low, norm);
  if (left > kernel.lowest() + turn) return {.u = left, .factor = norm};
  const double right = ratio_above(high, norm);
  if (right < kernel.lowest() - turn) return {.u = right, .factor = norm};
  return {.constant = norm * kernel.lowest_value()};
}

/// For fixed N the least κ is taken; what is left is convex in N, falls up to the place where a ray touches and grows
/// from there. Of a ≥ 0 that is the ray above through a_low; below 0 the ray through a_low where κ takes negative
/// values, else through a_high.
LowPlace lowest_on(const ConeKernel& kernel, double low, double high, const NormRange& norm) {
  if (low >= 0) {
    const TouchingRay& ray = kernel.ray_above();
    if (low * surely <= ray.low * norm.low) return {.u = ratio_below(low, norm.low), .factor = norm.low};
    if (low >= ray.high * norm.high * surely) return {.u = ratio_below(low, norm.high), .factor = norm.high};
    return {.constant = ray.slope * low};
  }
  const bool deep = kernel.lowest_value() < 0;
  if (!deep && high >= 0) return on_row(kernel, low, high, norm.low);
  const TouchingRay& ray = kernel.ray_below();
  const double end = deep ? low : high;
  if (-end * surely <= -ray.high * norm.low) return on_row(kernel, low, high, norm.low);
  if (-end >= -ray.low * norm.high * surely) return on_row(kernel, low, high, norm.high);
  return {.constant = std::min(ray.slope * low, ray.slope * high)};
}

}  // namespace

void IntervalSides::low(const RangeRow& row, std::span<const std::int32_t> which, SideScratch& scratch,
                        double* to) const {
  const auto count = std::ssize(which);
  for (Index k = 0; k < count; ++k) {
    const std::int32_t i = which[at(k)];
    const LowPlace place = lowest_on(kernel_, row.low[i], row.high[i], row.norm);
    scratch.u[at(k)] = place.u;
    scratch.factor[at(k)] = place.factor;
    to[k] = place.constant;
  }
  kernel_.evaluate(count, {.u = scratch.u.data(), .value = scratch.value.data()});
  for (Index k = 0; k < count; ++k) to[k] += scratch.factor[at(k)] * scratch.value[at(k)];
}

/// A convex function is largest at corners: those of the two edges of constant N, and where the edges of constant a
/// meet the cone |a| = N. The one on the right is the largest of its edge where it is the farther from 0, since κ(u) ≥
/// κ(−u) for u ≥ 0 (no odd power is negative) and κ grows there.
void IntervalSides::high(const RangeRow& row, std::span<const std::int32_t> which, SideScratch& scratch,
                         double* to) const {
  const auto count = std::ssize(which);
  const double inner = row.norm.low, outer = row.norm.high;
  double* u = scratch.u.data();
  double* value = scratch.value.data();
  for (Index k = 0; k < count; ++k) u[k] = ratio_above(row.high[which[at(k)]], outer);
  kernel_.evaluate(count, {.u = u, .value = to});
  for (Index k = 0; k < count; ++k) u[k] = ratio_above(row.high[which[at(k)]], inner);
  kernel_.evaluate(count, {.u = u, .value = value});
  Index turned = 0;
  for (Index k = 0; k < count; ++k) {
    const std::int32_t i = which[at(k)];
    const double meeting = std::min(row.high[i], outer) * surely;
    const double at_cone = meeting >= inner ? meeting * kernel_.largest() : inner * value[k];
    to[k] = std::max({outer * to[k], inner * value[k], at_cone});
    if (-row.low[i] > row.high[i]) scratch.turned[at(turned++)] = static_cast<std::int32_t>(k);
  }
  if (turned > 0) high_on_the_left(row, which, scratch, turned, to);
}

/// The same for ends on the left, of the samples that `scratch.turned` names; where a is negative throughout, also the
/// right end with the rounding that κ's falling part needs.
void IntervalSides::high_on_the_left(const RangeRow& row, std::span<const std::int32_t> which, SideScratch& scratch,
                                     Index turned, double* to) const {
  const double opposite = kernel_.value(-1);
  for (const double norm : {row.norm.low, row.norm.high}) {
    for (const double* side : {row.low, row.high}) {
      for (Index k = 0; k < turned; ++k) {
        const double a = side[which[at(scratch.turned[at(k)])]];
        const double u = ratio_above(a, norm);
        scratch.u[at(k)] = u < kernel_.lowest() ? ratio_below(a, norm) : u;
      }
      kernel_.evaluate(turned, {.u = scratch.u.data(), .value = scratch.value.data()});
      for (Index k = 0; k < turned; ++k) {
        double& bound = to[scratch.turned[at(k)]];
        bound = std::max(bound, norm * scratch.value[at(k)]);
      }
    }
  }
  for (Index k = 0; k < turned; ++k) {
    const double meeting = std::min(-row.low[which[at(scratch.turned[at(k)])]], row.norm.high) * surely;
    double& bound = to[scratch.turned[at(k)]];
    if (meeting >= row.norm.low) bound = std::max(bound, meeting * opposite);
  }
}

}  // namespace widelimit
