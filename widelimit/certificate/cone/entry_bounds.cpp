#include "widelimit/certificate/cone/entry_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

void EntryScratch::resize(std::size_t size) {
  for (std::vector<double>* array : {&low, &high, &u, &factor, &value, &other, &part}) array->resize(size);
  turned.resize(size);
  chosen.resize(size);
}

void EntryBounds::bound(const RangeStrip& strip, EntryScratch& scratch, double* to) const {
  bound_apart(strip, false, scratch, to);
}

bool EntryBounds::bound_around(const Interval& /*norm*/, const host::ConeSpread& /*spread*/, Index /*count*/,
                               const double* /*weight*/, double* /*to*/) const {
  return false;
}

void EntryBounds::bound_apart(const RangeStrip& strip, bool negative_only, EntryScratch& scratch, double* to) const {
  for (const bool positive : {true, false}) {
    Index count = 0;
    for (Index k = 0; k < strip.count; ++k) {
      if ((strip.weight[k] > 0) != positive || (negative_only && strip.low[k] >= 0)) continue;
      scratch.low[usize(count)] = strip.low[k], scratch.high[usize(count)] = strip.high[k];
      scratch.chosen[usize(count++)] = static_cast<std::int32_t>(k);
    }
    if (count == 0) continue;
    const RangeStrip chosen{.norm = strip.norm, .count = count, .low = scratch.low.data(), .high = scratch.high.data()};
    positive ? low(chosen, scratch, scratch.part.data()) : high(chosen, scratch, scratch.part.data());
    for (Index k = 0; k < count; ++k) to[scratch.chosen[usize(k)]] = scratch.part[usize(k)];
  }
}

void PaperEntryBounds::low(const RangeStrip& strip, EntryScratch& scratch, double* to) const {
  const double inner = strip.norm.low, outer = strip.norm.high;
  const double inner_inverse = inverse_of(inner), outer_inverse = inverse_of(outer);
  const double falls = kernel_.fall_end(), grows = kernel_.growth_begin(), least = kernel_.lowest_value();
  double* u = scratch.u.data();
  double* value = scratch.value.data();
  double* right = scratch.other.data();
  for (Index k = 0; k < strip.count; ++k) {
    const double left = ratio_below(strip.low[k], strip.low[k] < 0 ? inner_inverse : outer_inverse);
    right[k] = ratio_above(strip.high[k], strip.high[k] > 0 ? inner_inverse : outer_inverse);
    u[k] = right[k] < falls ? right[k] : left;
  }
  kernel_.evaluate(strip.count, {.u = u, .value = value});
  for (Index k = 0; k < strip.count; ++k) {
    const bool at_lowest = u[k] <= grows && right[k] >= falls;
    const double bound = at_lowest ? least : value[k];
    to[k] = bound * (bound > 0 ? inner : outer);
  }
}

void PaperEntryBounds::high(const RangeStrip& strip, EntryScratch& scratch, double* to) const {
  const double inner = strip.norm.low, outer = strip.norm.high;
  const double inner_inverse = inverse_of(inner), outer_inverse = inverse_of(outer);
  double* u = scratch.u.data();
  double* value = scratch.value.data();
  double* other = scratch.other.data();
  for (Index k = 0; k < strip.count; ++k) {
    u[k] = ratio_above(strip.high[k], strip.high[k] > 0 ? inner_inverse : outer_inverse);
  }
  kernel_.evaluate(strip.count, {.u = u, .value = value});
  // κ(−u) ≤ κ(u) for u ≥ 0: the left end matters only if its modulus is larger.
  int turned = 0;
  for (Index k = 0; k < strip.count; ++k) turned |= static_cast<int>(-strip.low[k] > strip.high[k]);
  if (turned != 0) {
    for (Index k = 0; k < strip.count; ++k) {
      u[k] = ratio_below(strip.low[k], strip.low[k] < 0 ? inner_inverse : outer_inverse);
    }
    kernel_.evaluate(strip.count, {.u = u, .value = other});
    for (Index k = 0; k < strip.count; ++k) value[k] = std::max(value[k], other[k]);
  }
  for (Index k = 0; k < strip.count; ++k) to[k] = value[k] * (value[k] > 0 ? outer : inner);
}

namespace {

/// A lower bound of H in the form factor·κ(u) + constant.
struct EntryMinorant {
  double u = 0;
  double factor = 0;
  double constant = 0;
};

constexpr double surely_beyond = 1 + 0x1p-50;  // exceeds the rounding of products and quotients

/// On [a_low, a_high]/N, κ is minimal at its global minimum if contained, otherwise at the endpoint nearest to it.
EntryMinorant on_row(const ConeKernel& kernel, double low, double high, double norm) {
  const double inverse = inverse_of(norm);
  const double left = ratio_below(low, inverse);
  if (left > kernel.growth_begin()) return {.u = left, .factor = norm};
  const double right = ratio_above(high, inverse);
  if (right < kernel.fall_end()) return {.u = right, .factor = norm};
  return {.constant = norm * kernel.lowest_value()};
}

/// After minimisation over a at fixed N, the result is convex in N with its minimum at the tangent point of a ray. For
/// negative a this is the ray through a_low if κ takes negative values, otherwise through a_high.
EntryMinorant lowest_below(const ConeKernel& kernel, double low, double high, const Interval& norm) {
  const bool deep = kernel.lowest_value() < 0;
  if (!deep && high >= 0) return on_row(kernel, low, high, norm.low);
  const SupportingRay& ray = kernel.ray_below();
  const double end = deep ? low : high;
  if (-end * surely_beyond <= -ray.high * norm.low) return on_row(kernel, low, high, norm.low);
  if (-end >= -ray.low * norm.high * surely_beyond) return on_row(kernel, low, high, norm.high);
  return {.constant = std::min(ray.slope * low, ray.slope * high)};
}

/// Writes the indices k with is(k) to `scratch.turned`; returns their number.
template <typename F>
Index find_turned(Index count, EntryScratch& scratch, const F& is) {
  Index turned = 0;
  for (Index k = 0; k < count; ++k) {
    scratch.turned[usize(turned)] = static_cast<std::int32_t>(k);
    turned += is(k) ? 1 : 0;
  }
  return turned;
}

}  // namespace

host::ConeEdges IntervalEntryBounds::edges(const Interval& norm) const {
  const SupportingRay& ray = kernel_.ray_above();
  return {.inner = norm.low,
          .outer = norm.high,
          .inner_inverse = inverse_of(norm.low),
          .outer_inverse = inverse_of(norm.high),
          .grows = ray.low * norm.low / surely_beyond,
          .falls = ray.high * norm.high * surely_beyond,
          .slope = ray.slope,
          .largest = kernel_.largest()};
}

/// For a ≥ 0 this is the upper ray through a_low; samples with a_low < 0 are recomputed.
void IntervalEntryBounds::low(const RangeStrip& strip, EntryScratch& scratch, double* to) const {
  host::least_on_edges(kernel_.chain(), edges(strip.norm), strip.count, strip.low, to);
  const Index turned = find_turned(strip.count, scratch, [&](Index k) { return strip.low[k] < 0; });
  if (turned == 0) return;
  for (Index k = 0; k < turned; ++k) {
    const std::int32_t i = scratch.turned[usize(k)];
    const EntryMinorant place = lowest_below(kernel_, strip.low[i], strip.high[i], strip.norm);
    scratch.u[usize(k)] = place.u, scratch.factor[usize(k)] = place.factor, scratch.other[usize(k)] = place.constant;
  }
  kernel_.evaluate(turned, {.u = scratch.u.data(), .value = scratch.value.data()});
  for (std::size_t k = 0; k < usize(turned); ++k) {
    to[scratch.turned[k]] = scratch.other[k] + scratch.factor[k] * scratch.value[k];
  }
}

void IntervalEntryBounds::bound(const RangeStrip& strip, EntryScratch& scratch, double* to) const {
  const host::ConeSamples samples{strip.count, strip.low, strip.high, strip.weight};
  if (host::bound_on_edges(kernel_.chain(), edges(strip.norm), samples, to)) bound_apart(strip, true, scratch, to);
}

bool IntervalEntryBounds::bound_around(const Interval& norm, const host::ConeSpread& spread, Index count,
                                       const double* weight, double* to) const {
  return !host::bound_on_edges(kernel_.chain(), edges(norm), spread, count, weight, to);
}

/// A convex function is maximal at corners: those of the two edges of constant N, and the intersections of the edges of
/// constant a with the cone |a| = N. The right corner is the maximum of its edge if its |a| is larger, since
/// κ(u) ≥ κ(−u) for u ≥ 0 (odd coefficients are non-negative) and κ increases there.
void IntervalEntryBounds::high(const RangeStrip& strip, EntryScratch& scratch, double* to) const {
  host::most_on_edges(kernel_.chain(), edges(strip.norm), strip.count, strip.high, to);
  const Index turned = find_turned(strip.count, scratch, [&](Index k) { return -strip.low[k] > strip.high[k]; });
  if (turned > 0) high_on_the_left(strip, scratch, turned, to);
}

/// The same for left endpoints, for the samples in `scratch.turned`. If all a are negative, the bound is recomputed:
/// the right endpoint needs the rounding of the decreasing part of κ, and the edge of minimal N can lie outside the
/// cone; the corner is then the intersection of a_high with the cone.
void IntervalEntryBounds::high_on_the_left(const RangeStrip& strip, EntryScratch& scratch, Index turned,
                                           double* to) const {
  const double opposite = kernel_.value(-1);
  double* norms = scratch.factor.data();
  for (Index k = 0; k < turned; ++k) {
    const std::int32_t i = scratch.turned[usize(k)];
    if (strip.high[i] < 0) to[i] = -std::numeric_limits<double>::infinity();
  }
  for (const bool inner : {true, false}) {
    for (Index k = 0; k < turned; ++k) {
      norms[k] = inner ? std::max(strip.norm.low, -strip.high[scratch.turned[usize(k)]]) : strip.norm.high;
    }
    for (const double* side : {strip.low, strip.high}) {
      for (Index k = 0; k < turned; ++k) {
        const double a = side[scratch.turned[usize(k)]], inverse = inverse_of(norms[k]);
        const double u = ratio_above(a, inverse);
        scratch.u[usize(k)] = u < kernel_.lowest() ? ratio_below(a, inverse) : u;
      }
      kernel_.evaluate(turned, {.u = scratch.u.data(), .value = scratch.value.data()});
      for (Index k = 0; k < turned; ++k) {
        double& bound = to[scratch.turned[usize(k)]];
        bound = std::max(bound, norms[k] * scratch.value[usize(k)]);
      }
    }
  }
  for (Index k = 0; k < turned; ++k) {
    const std::int32_t i = scratch.turned[usize(k)];
    const double crossing = std::min(-strip.low[i], strip.norm.high) * surely_beyond;
    if (crossing >= strip.norm.low) to[i] = std::max(to[i], crossing * opposite);
  }
}

}  // namespace widelimit
