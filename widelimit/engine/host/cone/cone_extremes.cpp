#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/cone/cone_extremes.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; cone-inl.hpp must follow it.
#include "widelimit/engine/host/cone/cone-inl.hpp"

#include "widelimit/engine/host/cone/cone_extremes.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

/// Multiplies a quotient by its slack and clamps it to [0, 1].
template <class D, class V>
HWY_INLINE V quotient_in_range(D d, V quotient, V moved) {
  return hn::Max(hn::Zero(d), hn::Min(hn::Mul(quotient, moved), hn::Set(d, 1.0)));
}

/// κ of such a quotient.
template <class D, class V>
HWY_INLINE V kappa_at(D d, const ConeChain& chain, V quotient, V moved) {
  const auto u = quotient_in_range(d, quotient, moved);
  return kappa_of<0>(d, chain, u, hn::Sub(hn::Set(d, 1.0), u)).value;
}

/// ConeEdges broadcast to vectors.
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

/// Point at which a bound is evaluated. A lower bound uses a_low, at the smallest N if H increases, at the largest if
/// it decreases, else on the ray; an upper bound uses a_high with the opposite choice of N.
template <class D>
struct Side {
  using V = hn::Vec<D>;
  using M = hn::Mask<D>;
  V a, norm, u;
  M lower, grows, falls;

  HWY_INLINE Side(D d, const EdgeVectors<D>& edges, V end, M from_below)
      : a(end), lower(from_below), grows(hn::Le(a, edges.grows)), falls(hn::Ge(a, edges.falls)) {
    const auto at_inner = hn::Or(hn::And(lower, grows), hn::AndNot(lower, falls));
    const auto moved = hn::IfThenElse(lower, hn::Set(d, 1 - ratio_slack), hn::Set(d, 1 + ratio_slack));
    const auto inverse = hn::IfThenElse(at_inner, edges.inner_inverse, edges.outer_inverse);
    norm = hn::IfThenElse(at_inner, edges.inner, edges.outer);
    u = quotient_in_range(d, hn::Mul(a, inverse), moved);
  }

  /// Bound from κ(u). An upper bound also needs the other end if H may have its minimum between the ends, and N = a,
  /// where the edge of constant a meets the cone.
  HWY_INLINE V bound(D d, const ConeChain& chain, const EdgeVectors<D>& edges, V kappa) const {
    constexpr double up = 1 + ratio_slack;
    const auto on_edge = hn::Mul(norm, kappa);
    const auto least = hn::IfThenElse(hn::Or(grows, falls), on_edge, hn::Mul(edges.slope, a));
    auto most = on_edge;
    if (!hn::AllTrue(d, hn::Or(lower, hn::Or(grows, falls)))) {
      const auto other = kappa_at(d, chain, hn::Mul(a, edges.inner_inverse), hn::Set(d, up));
      most = hn::Max(most, hn::Mul(edges.inner, other));
    }
    const auto crossing = hn::Mul(hn::Min(a, edges.outer), hn::Set(d, up));
    most = hn::IfThenElse(hn::Ge(crossing, edges.inner), hn::Max(most, hn::Mul(crossing, edges.largest)), most);
    return hn::IfThenElse(lower, least, most);
  }
};

/// Bounds of all samples on one side.
void one_side(const ConeChain& chain, const ConeEdges& edges, Index count, const double* end, bool lower, double* to) {
  const hn::ScalableTag<double> d;
  const EdgeVectors vectors(d, edges);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto from_below = lower ? hn::FirstN(d, hn::Lanes(d)) : hn::FirstN(d, 0);
  const auto one = hn::Set(d, 1.0);
  for (Index k = 0; k < count; k += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - k)));
    const Side side(d, vectors, hn::MaskedLoad(inside, d, end + k), from_below);
    const auto kappa = kappa_of<0>(d, chain, side.u, hn::Sub(one, side.u)).value;
    hn::BlendedStore(side.bound(d, chain, vectors, kappa), inside, d, to + k);
  }
}

/// Processes two vectors of samples at a time, whose ranges `load(inside, k, low, high)` returns. Returns true if any
/// low is negative.
template <class D, class Load>
HWY_INLINE bool both_sides(D d, const ConeChain& chain, const ConeEdges& edges, Index count, const double* weight,
                           double* to, const Load& load) {
  const EdgeVectors vectors(d, edges);
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  auto least = zero;
  const auto inside_at = [&](Index k)
                             HWY_ATTR { return hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - k))); };
  const auto side_at = [&](Index k, hn::Mask<D> inside) HWY_ATTR {
    hn::Vec<D> low, high;
    load(inside, k, low, high);
    least = hn::Min(least, hn::IfThenElseZero(inside, low));
    const auto lower = hn::Gt(hn::MaskedLoad(inside, d, weight + k), zero);
    return Side(d, vectors, hn::IfThenElse(lower, low, high), lower);
  };
  for (Index k = 0; k < count; k += 2 * lanes) {
    // A single last vector is paired with itself.
    const Index next = k + lanes < count ? k + lanes : k;
    const auto first_inside = inside_at(k), second_inside = inside_at(next);
    const Side first = side_at(k, first_inside), second = side_at(next, second_inside);
    auto u = first.u, v = second.u;
    kappa_of_two(d, chain, u, hn::Sub(one, u), v, hn::Sub(one, v));
    hn::BlendedStore(first.bound(d, chain, vectors, u), first_inside, d, to + k);
    hn::BlendedStore(second.bound(d, chain, vectors, v), second_inside, d, to + next);
  }
  return !hn::AllTrue(d, hn::Ge(least, zero));
}

bool sides_of_ranges(const ConeChain& chain, const ConeEdges& edges, const ConeSamples& samples, double* to) {
  const hn::ScalableTag<double> d;
  return both_sides(d, chain, edges, samples.count, samples.weight, to,
                    [&](auto inside, Index k, auto& low, auto& high) HWY_ATTR {
                      low = hn::MaskedLoad(inside, d, samples.low + k);
                      high = hn::MaskedLoad(inside, d, samples.high + k);
                    });
}

/// ConeSpread broadcast to vectors.
template <class D>
struct Widening {
  hn::Vec<D> radius, error, limit;

  HWY_INLINE Widening(D d, const ConeSpread& from)
      : radius(hn::Set(d, from.radius)), error(hn::Set(d, from.error)), limit(hn::Set(d, from.limit)) {}
  HWY_INLINE void ends(D d, const ConeSpread& from, hn::Mask<D> inside, Index k, hn::Vec<D>& low,
                       hn::Vec<D>& high) const {
    const auto a = hn::MaskedLoad(inside, d, from.a + k);
    const auto spread = from.spread != nullptr ? hn::MaskedLoad(inside, d, from.spread + k) : hn::Set(d, 1.0);
    const auto reach = hn::MulAdd(radius, spread, error);
    low = hn::Max(hn::Sub(a, reach), hn::Neg(limit));
    high = hn::Min(hn::Add(a, reach), limit);
  }
};

bool sides_of_spreads(const ConeChain& chain, const ConeEdges& edges, const ConeSpread& from, Index count,
                      const double* weight, double* to) {
  const hn::ScalableTag<double> d;
  const Widening widening(d, from);
  return both_sides(d, chain, edges, count, weight, to, [&](auto inside, Index k, auto& low, auto& high) HWY_ATTR {
    widening.ends(d, from, inside, k, low, high);
  });
}

void widen_loop(const ConeSpread& from, Index count, double* low, double* high) {
  const hn::ScalableTag<double> d;
  const Widening widening(d, from);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index k = 0; k < count; k += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - k)));
    hn::Vec<decltype(d)> below, above;
    widening.ends(d, from, inside, k, below, above);
    hn::BlendedStore(below, inside, d, low + k);
    hn::BlendedStore(above, inside, d, high + k);
  }
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(one_side);
HWY_EXPORT(sides_of_ranges);
HWY_EXPORT(sides_of_spreads);
HWY_EXPORT(widen_loop);

void least_on_edges(const ConeChain& chain, const ConeEdges& edges, Index count, const double* low, double* to) {
  HWY_DYNAMIC_DISPATCH(one_side)(chain, edges, count, low, true, to);
}
void most_on_edges(const ConeChain& chain, const ConeEdges& edges, Index count, const double* high, double* to) {
  HWY_DYNAMIC_DISPATCH(one_side)(chain, edges, count, high, false, to);
}
bool bound_on_edges(const ConeChain& chain, const ConeEdges& edges, const ConeSamples& samples, double* to) {
  return HWY_DYNAMIC_DISPATCH(sides_of_ranges)(chain, edges, samples, to);
}
bool bound_on_edges(const ConeChain& chain, const ConeEdges& edges, const ConeSpread& from, Index count,
                    const double* weight, double* to) {
  return HWY_DYNAMIC_DISPATCH(sides_of_spreads)(chain, edges, from, count, weight, to);
}
void widen_ranges(const ConeSpread& from, Index count, double* low, double* high) {
  HWY_DYNAMIC_DISPATCH(widen_loop)(from, count, low, high);
}

}  // namespace widelimit::host
#endif
