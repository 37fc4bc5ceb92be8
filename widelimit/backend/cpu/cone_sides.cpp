#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/backend/cpu/cone_sides.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once for each instruction set; cone-inl.hpp must follow it.
#include "widelimit/backend/cpu/cone-inl.hpp"

#include "widelimit/backend/cpu/cone_sides.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

/// κ(a·inverse), the quotient times `moved` and in [0, 1].
template <class D, class V>
HWY_INLINE V kappa_at(D d, const ConeChain& chain, V a, V inverse, double moved) {
  const auto one = hn::Set(d, 1.0);
  const auto quotient = hn::Mul(hn::Mul(a, inverse), hn::Set(d, moved));
  const auto u = hn::Max(hn::Zero(d), hn::Min(quotient, one));
  return kappa_of<0>(d, chain, u, hn::Sub(one, u)).value;
}

/// f(a) of each vector of `from`, stored in `to`.
template <class F>
HWY_INLINE void map_vectors(Index count, const double* from, double* to, const F& f) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index k = 0; k < count; k += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - k)));
    hn::BlendedStore(f(d, hn::MaskedLoad(inside, d, from + k)), inside, d, to + k);
  }
}

/// At least N where H grows, at the largest where it falls, else on the ray.
void least_loop(const ConeChain& chain, const ConeEdges& edges, Index count, const double* low, double* to) {
  map_vectors(count, low, to, [&](auto d, auto a) HWY_ATTR {
    const auto grows = hn::Le(a, hn::Set(d, edges.grows));
    const auto falls = hn::Ge(a, hn::Set(d, edges.falls));
    const auto inverse = hn::IfThenElse(grows, hn::Set(d, edges.inner_inverse), hn::Set(d, edges.outer_inverse));
    const auto norm = hn::IfThenElse(grows, hn::Set(d, edges.inner), hn::Set(d, edges.outer));
    const auto on_edge = hn::Mul(norm, kappa_at(d, chain, a, inverse, 1 - ratio_slack));
    return hn::IfThenElse(hn::Or(grows, falls), on_edge, hn::Mul(hn::Set(d, edges.slope), a));
  });
}

/// The other way round, and both ends where H may have its least value between them; besides N = a, where the edge of
/// constant a meets the cone.
void most_loop(const ConeChain& chain, const ConeEdges& edges, Index count, const double* high, double* to) {
  map_vectors(count, high, to, [&](auto d, auto a) HWY_ATTR {
    constexpr double moved = 1 + ratio_slack;
    const auto inner = hn::Set(d, edges.inner), outer = hn::Set(d, edges.outer);
    const auto inner_inverse = hn::Set(d, edges.inner_inverse);
    const auto falls = hn::Ge(a, hn::Set(d, edges.falls));
    const auto inverse = hn::IfThenElse(falls, inner_inverse, hn::Set(d, edges.outer_inverse));
    auto most = hn::Mul(hn::IfThenElse(falls, inner, outer), kappa_at(d, chain, a, inverse, moved));
    const auto grows = hn::Le(a, hn::Set(d, edges.grows));
    if (!hn::AllTrue(d, hn::Or(grows, falls))) {
      most = hn::Max(most, hn::Mul(inner, kappa_at(d, chain, a, inner_inverse, moved)));
    }
    const auto meeting = hn::Mul(hn::Min(a, outer), hn::Set(d, moved));
    const auto corner = hn::Mul(meeting, hn::Set(d, edges.largest));
    return hn::IfThenElse(hn::Ge(meeting, inner), hn::Max(most, corner), most);
  });
}

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(least_loop);
HWY_EXPORT(most_loop);

void least_on_edges(const ConeChain& chain, const ConeEdges& edges, Index count, const double* low, double* to) {
  HWY_DYNAMIC_DISPATCH(least_loop)(chain, edges, count, low, to);
}
void most_on_edges(const ConeChain& chain, const ConeEdges& edges, Index count, const double* high, double* to) {
  HWY_DYNAMIC_DISPATCH(most_loop)(chain, edges, count, high, to);
}

}  // namespace widelimit::cpu
#endif
