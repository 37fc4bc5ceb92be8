#include "widelimit/certificate/cone/kernel_sides.hpp"

namespace widelimit {

void SideScratch::resize(std::size_t size) {
  for (std::vector<double>* array : {&low, &high, &u, &factor, &value, &other, &part}) array->resize(size);
  turned.resize(size);
  chosen.resize(size);
}

void KernelSides::bound(const RangeStrip& strip, SideScratch& scratch, double* to) const {
  bound_apart(strip, false, scratch, to);
}

void KernelSides::bound_apart(const RangeStrip& strip, bool negative_only, SideScratch& scratch, double* to) const {
  for (const bool positive : {true, false}) {
    Index count = 0;
    for (Index k = 0; k < strip.count; ++k) {
      if ((strip.weight[k] > 0) != positive || (negative_only && strip.low[k] >= 0)) continue;
      scratch.low[at(count)] = strip.low[k], scratch.high[at(count)] = strip.high[k];
      scratch.chosen[at(count++)] = static_cast<std::int32_t>(k);
    }
    if (count == 0) continue;
    const RangeStrip chosen{.norm = strip.norm, .count = count, .low = scratch.low.data(), .high = scratch.high.data()};
    positive ? low(chosen, scratch, scratch.part.data()) : high(chosen, scratch, scratch.part.data());
    for (Index k = 0; k < count; ++k) to[scratch.chosen[at(k)]] = scratch.part[at(k)];
  }
}

}  // namespace widelimit
