#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/backend/cpu/cone.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once for each instruction set; strip-inl.hpp must follow it.
#include "widelimit/backend/cpu/strip-inl.hpp"

#include "widelimit/backend/cpu/cone.hpp"

#include <algorithm>
#include <array>
#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

/// A function of u at one vector of places, and as many derivatives as are asked for.
template <class V>
struct Jet {
  V value, slope, curvature;
};

/// f·g and its derivatives.
template <int order, class V>
HWY_INLINE Jet<V> product_of(const Jet<V>& f, const Jet<V>& g) {
  Jet<V> result{hn::Mul(f.value, g.value), f.slope, f.curvature};
  if constexpr (order > 0) result.slope = hn::MulAdd(f.value, g.slope, hn::Mul(f.slope, g.value));
  if constexpr (order > 1) {
    const auto cross = hn::Mul(f.slope, g.slope);
    const auto outer = hn::MulAdd(f.value, g.curvature, hn::Mul(f.curvature, g.value));
    result.curvature = hn::Add(outer, hn::Add(cross, cross));
  }
  return result;
}

/// ρ and t = 1 − |ρ| after a rectifier, as in rectifier.cpp, and the factor linear + bend·κ₀(ρ) by which θ shrinks.
/// κ₁' = κ₀, κ₀' = 1/(π√(1−ρ²)), κ₀'' = ρ/(π(1−ρ²)^{3/2}), 1 − ρ² = t(2−t).
template <int order, class D, class V>
HWY_INLINE Jet<V> rectify(D d, const ConeLayer& layer, Jet<V>& rho, V& t) {
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, 1.0);
  const auto linear = hn::Set(d, layer.linear);
  const auto bend = hn::Set(d, layer.bend);
  const auto bend_over_pi = hn::Set(d, layer.bend * std::numbers::inv_pi);
  const auto root = hn::Sqrt(t);
  const auto bent = hn::Mul(hn::Mul(hn::Mul(root, t), bend_over_pi), horner(d, ArccosPolynomials<double>::q, t));
  const auto angle = hn::Mul(hn::Mul(root, bend_over_pi), horner(d, ArccosPolynomials<double>::p, t));
  const auto positive = hn::Ge(rho.value, zero);
  const auto absolute = hn::Sub(one, t);

  Jet<V> factor{hn::Add(linear, hn::IfThenElse(positive, hn::Sub(bend, angle), angle)), zero, zero};
  if constexpr (order > 0) {
    const auto kept = hn::Max(t, hn::Set(d, least_rest));
    const auto square = hn::Mul(kept, hn::Sub(hn::Set(d, 2.0), kept));
    const auto steep = hn::Div(bend_over_pi, hn::Sqrt(square));  // bend·κ₀'
    factor.slope = hn::Mul(steep, rho.slope);
    if constexpr (order > 1) {
      const auto bow = hn::Div(hn::Mul(steep, rho.value), square);
      factor.curvature = hn::MulAdd(bow, hn::Mul(rho.slope, rho.slope), hn::Mul(steep, rho.curvature));
    }
  }

  const auto if_negative = hn::NegMulAdd(linear, absolute, bent);
  const auto tilt = hn::MulAdd(linear, t, bent);
  const auto t_if_negative =
      hn::IfThenElse(hn::Ge(if_negative, zero), hn::Sub(hn::Set(d, 1.0 + layer.linear), tilt), hn::Add(bend, tilt));
  rho.value = hn::IfThenElse(positive, hn::Add(absolute, bent), if_negative);
  t = hn::Max(zero, hn::IfThenElse(positive, hn::Sub(t, bent), t_if_negative));
  if constexpr (order > 1) {
    rho.curvature = hn::MulAdd(factor.slope, rho.slope, hn::Mul(factor.value, rho.curvature));
  }
  if constexpr (order > 0) rho.slope = hn::Mul(factor.value, rho.slope);
  return factor;
}

/// θ + times·ρ.
template <int order, class D, class V>
HWY_INLINE void add_trained(D d, double times, const Jet<V>& rho, Jet<V>& theta) {
  const auto trained = hn::Set(d, times);
  theta.value = hn::MulAdd(trained, rho.value, theta.value);
  if constexpr (order > 0) theta.slope = hn::MulAdd(trained, rho.slope, theta.slope);
  if constexpr (order > 1) theta.curvature = hn::MulAdd(trained, rho.curvature, theta.curvature);
}

template <int order, class D, class V>
HWY_INLINE Jet<V> kappa_of(D d, const ConeChain& chain, V u, V t) {
  const auto zero = hn::Zero(d);
  Jet<V> rho{u, hn::Set(d, 1.0), zero};
  Jet<V> theta{zero, zero, zero};
  add_trained<order>(d, chain.trained, rho, theta);
  for (const ConeLayer& layer : chain.layers) {
    const Jet<V> factor = rectify<order>(d, layer, rho, t);
    theta = product_of<order>(theta, factor);
    add_trained<order>(d, layer.trained, rho, theta);
  }
  return chain.tangent ? theta : rho;
}

template <int order>
void cone_loop(const ConeChain& chain, Index count, const ConeArrays& arrays) {
  const hn::ScalableTag<double> d;
  const auto one = hn::Set(d, 1.0);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index k = 0; k < count; k += lanes) {
    // The last vector is filled with what a sample at right angles has.
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

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(cone_values);
HWY_EXPORT(cone_slopes);
HWY_EXPORT(cone_curves);

void evaluate_cone(const ConeChain& chain, Index count, const ConeArrays& arrays) {
  if (arrays.slope == nullptr) return HWY_DYNAMIC_DISPATCH(cone_values)(chain, count, arrays);
  if (arrays.curvature == nullptr) return HWY_DYNAMIC_DISPATCH(cone_slopes)(chain, count, arrays);
  HWY_DYNAMIC_DISPATCH(cone_curves)(chain, count, arrays);
}

}  // namespace widelimit::cpu
#endif
