#include "widelimit/certificate/cone/paper_sides.hpp"

#include <algorithm>

namespace widelimit {

void PaperSides::low(const RangeStrip& strip, SideScratch& scratch, double* to) const {
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

void PaperSides::high(const RangeStrip& strip, SideScratch& scratch, double* to) const {
  const double inner = strip.norm.low, outer = strip.norm.high;
  const double inner_inverse = inverse_of(inner), outer_inverse = inverse_of(outer);
  double* u = scratch.u.data();
  double* value = scratch.value.data();
  double* other = scratch.other.data();
  for (Index k = 0; k < strip.count; ++k) {
    u[k] = ratio_above(strip.high[k], strip.high[k] > 0 ? inner_inverse : outer_inverse);
  }
  kernel_.evaluate(strip.count, {.u = u, .value = value});
  // κ(−u) ≤ κ(u) for u ≥ 0: the left end counts only where it is the farther from 0.
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

}  // namespace widelimit
