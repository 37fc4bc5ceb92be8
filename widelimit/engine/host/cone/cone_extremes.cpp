#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/cone/cone_extremes.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once for each instruction set; cone-inl.hpp must follow it.
#include "widelimit/engine/host/cone/cone-inl.hpp"

#include "widelimit/engine/host/cone/cone_extremes.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

/// κ of a quotient that is moved, and in [0, 1].
template <class D, class V>
HWY_INLINE V kappa_at(D d, const ConeChain& chain, V quotient, V moved) {
  const auto one = hn::Set(d, 1.0);
  const auto u = hn::Max(hn::Zero(d), hn::Min(hn::Mul(quotient, moved), one));
  return kappa_of<0>(d, chain, u, hn::Sub(one, u)).value;
}

/// Edges on vectors.
template <class D>
struct EdgeVectors {
  using V = hn::Vec<D>;
  V inner, outer, inner_inverse, outer_inverse, grows, falls, slope, largest;

  HWY_INLINE EdgeVectors(D d, const ConeEdges& edges)
      : inner(hn::Set(d, edges.inner)),
        outer(hn::Set(d, edges.outer)),
        inner_inverse(hn::Set(d, edges.inner_inverse)),
        outer_inverse(hn::Set(d, edges.outer_inverse)),
        grows(hn::Set(d, edges.grows)),
        falls(hn::Set(d, edges.falls)),
        slope(hn::Set(d, edges.slope)),
        largest(hn::Set(d, edges.largest)) {}
};

/// The bound from below, through a_low: at the least N where H grows, at the largest where it falls, else on the ray.
/// From above, through a_high: the other way round, and at both ends where H may have its least value between them;
/// besides N = a, where the edge of constant a meets the cone.
template <class D, class V, class M>
HWY_INLINE V side_of(D d, const ConeChain& chain, const EdgeVectors<D>& edges, V a, M lower) {
  constexpr double up = 1 + ratio_slack;
  const auto grows = hn::Le(a, edges.grows), falls = hn::Ge(a, edges.falls);
  const auto at_inner = hn::Or(hn::And(lower, grows), hn::AndNot(lower, falls));
  const auto moved = hn::IfThenElse(lower, hn::Set(d, 1 - ratio_slack), hn::Set(d, up));
  const auto inverse = hn::IfThenElse(at_inner, edges.inner_inverse, edges.outer_inverse);
  const auto norm = hn::IfThenElse(at_inner, edges.inner, edges.outer);
  const auto on_edge = hn::Mul(norm, kappa_at(d, chain, hn::Mul(a, inverse), moved));
  const auto least = hn::IfThenElse(hn::Or(grows, falls), on_edge, hn::Mul(edges.slope, a));

  auto most = on_edge;
  if (!hn::AllTrue(d, hn::Or(lower, hn::Or(grows, falls)))) {
    const auto other = kappa_at(d, chain, hn::Mul(a, edges.inner_inverse), hn::Set(d, up));
    most = hn::Max(most, hn::Mul(edges.inner, other));
  }
  const auto meeting = hn::Mul(hn::Min(a, edges.outer), hn::Set(d, up));
  most = hn::IfThenElse(hn::Ge(meeting, edges.inner), hn::Max(most, hn::Mul(meeting, edges.largest)), most);
  return hn::IfThenElse(lower, least, most);
}

/// Bounds of all samples on one side.
void one_side(const ConeChain& chain, const ConeEdges& edges, Index count, const double* end, bool lower, double* to) {
  const hn::ScalableTag<double> d;
  const EdgeVectors vectors(d, edges);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto side = lower ? hn::FirstN(d, hn::Lanes(d)) : hn::FirstN(d, 0);
  for (Index k = 0; k < count; k += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - k)));
    const auto a = hn::MaskedLoad(inside, d, end + k);
    hn::BlendedStore(side_of(d, chain, vectors, a, side), inside, d, to + k);
  }
}

bool both_sides(const ConeChain& chain, const ConeEdges& edges, const ConeSamples& samples, double* to) {
  const hn::ScalableTag<double> d;
  const EdgeVectors vectors(d, edges);
  const auto zero = hn::Zero(d);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  auto least = zero;
  for (Index k = 0; k < samples.count; k += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, samples.count - k)));
    const auto low = hn::MaskedLoad(inside, d, samples.low + k);
    const auto lower = hn::Gt(hn::MaskedLoad(inside, d, samples.weight + k), zero);
    const auto a = hn::IfThenElse(lower, low, hn::MaskedLoad(inside, d, samples.high + k));
    least = hn::Min(least, low);
    hn::BlendedStore(side_of(d, chain, vectors, a, lower), inside, d, to + k);
  }
  return !hn::AllTrue(d, hn::Ge(least, zero));
}

void widen_loop(const ConeSpread& from, Index count, double* low, double* high) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto radius = hn::Set(d, from.radius), error = hn::Set(d, from.error), limit = hn::Set(d, from.limit);
  for (Index k = 0; k < count; k += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - k)));
    const auto a = hn::MaskedLoad(inside, d, from.a + k);
    const auto spread = from.spread != nullptr ? hn::MaskedLoad(inside, d, from.spread + k) : hn::Set(d, 1.0);
    const auto reach = hn::MulAdd(radius, spread, error);
    hn::BlendedStore(hn::Max(hn::Sub(a, reach), hn::Neg(limit)), inside, d, low + k);
    hn::BlendedStore(hn::Min(hn::Add(a, reach), limit), inside, d, high + k);
  }
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(one_side);
HWY_EXPORT(both_sides);
HWY_EXPORT(widen_loop);

void least_on_edges(const ConeChain& chain, const ConeEdges& edges, Index count, const double* low, double* to) {
  HWY_DYNAMIC_DISPATCH(one_side)(chain, edges, count, low, true, to);
}
void most_on_edges(const ConeChain& chain, const ConeEdges& edges, Index count, const double* high, double* to) {
  HWY_DYNAMIC_DISPATCH(one_side)(chain, edges, count, high, false, to);
}
bool bound_on_edges(const ConeChain& chain, const ConeEdges& edges, const ConeSamples& samples, double* to) {
  return HWY_DYNAMIC_DISPATCH(both_sides)(chain, edges, samples, to);
}
void widen_ranges(const ConeSpread& from, Index count, double* low, double* high) {
  HWY_DYNAMIC_DISPATCH(widen_loop)(from, count, low, high);
}

}  // namespace widelimit::host
#endif
