// κ of a chain without bias on vectors of cosines. Included once per target by Highway's foreach_target, hence no
// #pragma once; the guard is Highway's own idiom.
#if defined(WIDELIMIT_HOST_CONE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDELIMIT_HOST_CONE_INL
#undef WIDELIMIT_HOST_CONE_INL
#else
#define WIDELIMIT_HOST_CONE_INL
#endif

#include "widelimit/engine/cpu/vector/strip-inl.hpp"
#include "widelimit/engine/host/cone/cone.hpp"

#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using cpu::ArccosPolynomials;
using cpu::HWY_NAMESPACE::horner;

/// A function of u on one vector of arguments, with as many derivatives as requested.
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

/// Values of the arccos polynomials at t.
template <class V>
struct Arccos {
  V p, q;
};

template <class D, class V>
HWY_INLINE Arccos<V> arccos_at(D d, V t) {
  return {horner(d, ArccosPolynomials<double>::p, t), horner(d, ArccosPolynomials<double>::q, t)};
}

/// Horner's scheme at two vectors: shares the broadcast of coefficients and hides latency.
template <class D, class V, std::size_t N>
HWY_INLINE void horner_two(D d, const double (&coefficients)[N], V x, V y, V& at_x, V& at_y) {
  at_x = at_y = hn::Set(d, coefficients[N - 1]);
  for (std::size_t k = N - 1; k-- > 0;) {
    const auto coefficient = hn::Set(d, coefficients[k]);
    at_x = hn::MulAdd(at_x, x, coefficient);
    at_y = hn::MulAdd(at_y, y, coefficient);
  }
}

/// Updates ρ and t = 1 − |ρ| by a rectifier, as in rectifier.cpp; returns the factor linear + bend·κ₀(ρ) of θ. κ₁' =
/// κ₀, κ₀' = 1/(π√(1−ρ²)), κ₀'' = ρ/(π(1−ρ²)^{3/2}), 1 − ρ² = t(2−t).
template <int order, class D, class V>
HWY_INLINE Jet<V> rectify(D d, const ConeLayer& layer, const Arccos<V>& arccos, Jet<V>& rho, V& t) {
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, 1.0);
  const auto linear = hn::Set(d, layer.linear);
  const auto bend = hn::Set(d, layer.bend);
  const auto bend_over_pi = hn::Set(d, layer.bend * std::numbers::inv_pi);
  const auto root = hn::Sqrt(t);
  const auto bent = hn::Mul(hn::Mul(hn::Mul(root, t), bend_over_pi), arccos.q);
  const auto angle = hn::Mul(hn::Mul(root, bend_over_pi), arccos.p);
  const auto positive = hn::Ge(rho.value, zero);
  const auto absolute = hn::Sub(one, t);

  Jet<V> factor{hn::Add(linear, hn::IfThenElse(positive, hn::Sub(bend, angle), angle)), zero, zero};
  if constexpr (order > 0) {
    const auto kept = hn::Max(t, hn::Set(d, least_rest));
    const auto square = hn::Mul(kept, hn::Sub(hn::Set(d, 2.0), kept));
    const auto steep = hn::Div(bend_over_pi, hn::Sqrt(square));  // bend·κ₀'
    factor.slope = hn::Mul(steep, rho.slope);
    if constexpr (order > 1) {
      const auto steep_curvature = hn::Div(hn::Mul(steep, rho.value), square);
      factor.curvature = hn::MulAdd(steep_curvature, hn::Mul(rho.slope, rho.slope), hn::Mul(steep, rho.curvature));
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

/// ρ and θ of one vector of cosines, updated layer by layer.
template <int order, class V>
struct ConeState {
  Jet<V> rho, theta;
  V t;

  template <class D>
  HWY_INLINE ConeState(D d, const ConeChain& chain, V u, V rest)
      : rho{u, hn::Set(d, 1.0), hn::Zero(d)}, theta{hn::Zero(d), hn::Zero(d), hn::Zero(d)}, t(rest) {
    add_trained<order>(d, chain.trained, rho, theta);
  }
  template <class D>
  HWY_INLINE void pass(D d, const ConeLayer& layer, const Arccos<V>& arccos) {
    const Jet<V> factor = rectify<order>(d, layer, arccos, rho, t);
    theta = product_of<order>(theta, factor);
    add_trained<order>(d, layer.trained, rho, theta);
  }
  [[nodiscard]] HWY_INLINE Jet<V> kappa(const ConeChain& chain) const { return chain.tangent ? theta : rho; }
};

template <int order, class D, class V>
HWY_INLINE Jet<V> kappa_of(D d, const ConeChain& chain, V u, V t) {
  ConeState<order, V> state(d, chain, u, t);
  for (const ConeLayer& layer : chain.layers) state.pass(d, layer, arccos_at(d, state.t));
  return state.kappa(chain);
}

/// κ of two vectors, bit-identical to separate calls.
template <class D, class V>
HWY_INLINE void kappa_of_two(D d, const ConeChain& chain, V& u, V t, V& v, V s) {
  ConeState<0, V> one(d, chain, u, t), other(d, chain, v, s);
  for (const ConeLayer& layer : chain.layers) {
    Arccos<V> at_one, at_other;
    horner_two(d, ArccosPolynomials<double>::p, one.t, other.t, at_one.p, at_other.p);
    horner_two(d, ArccosPolynomials<double>::q, one.t, other.t, at_one.q, at_other.q);
    one.pass(d, layer, at_one);
    other.pass(d, layer, at_other);
  }
  u = one.kappa(chain).value;
  v = other.kappa(chain).value;
}

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
