#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/cone/cone.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; cone-inl.hpp must follow it.
#include "widelimit/engine/host/cone/cone-inl.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

template <int order>
void cone_loop(const ConeChain& chain, Index count, const ConeArrays& arrays) {
  const hn::ScalableTag<double> d;
  const auto one = hn::Set(d, 1.0);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index k = 0; k < count; k += lanes) {
    // The last vector is padded with the values of an orthogonal sample.
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - k)));
    const auto u = hn::MaskedLoad(inside, d, arrays.u + k);
    const auto own = hn::Max(hn::Zero(d), hn::Sub(one, hn::Abs(u)));
    const auto t =
        arrays.rest != nullptr ? hn::IfThenElse(inside, hn::MaskedLoad(inside, d, arrays.rest + k), one) : own;
    const auto kappa = kappa_of<order>(d, chain, u, t);
    hn::BlendedStore(kappa.value, inside, d, arrays.value + k);
    if constexpr (order > 0) hn::BlendedStore(kappa.slope, inside, d, arrays.slope + k);
    if constexpr (order > 1) hn::BlendedStore(kappa.curvature, inside, d, arrays.curvature + k);
  }
}

void cone_values(const ConeChain& chain, Index count, const ConeArrays& arrays) { cone_loop<0>(chain, count, arrays); }
void cone_slopes(const ConeChain& chain, Index count, const ConeArrays& arrays) { cone_loop<1>(chain, count, arrays); }
void cone_curves(const ConeChain& chain, Index count, const ConeArrays& arrays) { cone_loop<2>(chain, count, arrays); }

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(cone_values);
HWY_EXPORT(cone_slopes);
HWY_EXPORT(cone_curves);

void evaluate_cone(const ConeChain& chain, Index count, const ConeArrays& arrays) {
  if (arrays.slope == nullptr) return HWY_DYNAMIC_DISPATCH(cone_values)(chain, count, arrays);
  if (arrays.curvature == nullptr) return HWY_DYNAMIC_DISPATCH(cone_slopes)(chain, count, arrays);
  HWY_DYNAMIC_DISPATCH(cone_curves)(chain, count, arrays);
}

}  // namespace widelimit::host
#endif
