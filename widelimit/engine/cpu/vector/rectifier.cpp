#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/vector/rectifier.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; strip-inl.hpp must follow it.
#include "widelimit/engine/cpu/vector/strip-inl.hpp"

#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

/// With a = |ρ| = 1−t and w = √t·t·Q(t)/π:  κ₁(a) = a + w, κ₁(−a) = w, so
///   ρ ≥ 0:  Aρ + Bκ₁ = a + Bw,       1 − that = t − Bw
///   ρ < 0:  Aρ + Bκ₁ = −Aa + Bw,     1 ∓ that = (1 ± A) ∓ (At + Bw)
/// and κ₀ = 1 − arccos(a)/π or arccos(a)/π. No term suffers cancellation as t → 0.
template <typename T>
void rectifier_of(T a, T b, const Strip<T>& strip) {
  const hn::ScalableTag<T> d;
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, T(1));
  const auto linear = hn::Set(d, a);
  const auto bend = hn::Set(d, b);
  const auto bend_over_pi = hn::Set(d, b * std::numbers::inv_pi_v<T>);
  const auto one_plus_a = hn::Set(d, T(1) + a);
  const auto one_minus_a = hn::Set(d, T(1) - a);
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto rho = hn::LoadU(d, strip.rho + k);
    const auto t = hn::LoadU(d, strip.t + k);
    const auto root = hn::Sqrt(t);
    const auto bent = hn::Mul(hn::Mul(hn::Mul(root, t), bend_over_pi), horner(d, ArccosPolynomials<T>::q, t));  // Bw
    const auto angle = hn::Mul(hn::Mul(root, bend_over_pi), horner(d, ArccosPolynomials<T>::p, t));  // B·arccos(a)/π
    const auto positive = hn::Ge(rho, zero);
    const auto absolute = hn::Sub(one, t);
    if (hn::AllTrue(d, positive)) {  // all pairs after the first relu
      hn::StoreU(hn::Add(absolute, bent), d, strip.rho + k);
      hn::StoreU(hn::Max(zero, hn::Sub(t, bent)), d, strip.t + k);
      scale_theta(d, hn::Add(linear, hn::Sub(bend, angle)), strip, k);
      return;
    }

    const auto rho_if_negative = hn::NegMulAdd(linear, absolute, bent);
    const auto rho_new = hn::IfThenElse(positive, hn::Add(absolute, bent), rho_if_negative);
    const auto tilt = hn::MulAdd(linear, t, bent);
    const auto t_if_negative =
        hn::IfThenElse(hn::Ge(rho_if_negative, zero), hn::Sub(one_plus_a, tilt), hn::Add(one_minus_a, tilt));
    const auto t_new = hn::Max(zero, hn::IfThenElse(positive, hn::Sub(t, bent), t_if_negative));
    const auto dot = hn::Add(linear, hn::IfThenElse(positive, hn::Sub(bend, angle), angle));

    hn::StoreU(rho_new, d, strip.rho + k);
    hn::StoreU(t_new, d, strip.t + k);
    scale_theta(d, dot, strip, k);
  });
}

void rectifier_f32(float a, float b, const Strip<float>& strip) { rectifier_of(a, b, strip); }
void rectifier_f64(double a, double b, const Strip<double>& strip) { rectifier_of(a, b, strip); }

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(rectifier_f32);
HWY_EXPORT(rectifier_f64);

template <>
void rectifier(float a, float b, const Strip<float>& strip) {
  HWY_DYNAMIC_DISPATCH(rectifier_f32)(a, b, strip);
}
template <>
void rectifier(double a, double b, const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(rectifier_f64)(a, b, strip);
}

}  // namespace widelimit::cpu
#endif
