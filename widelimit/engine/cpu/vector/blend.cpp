#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/vector/blend.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; strip-inl.hpp must follow it.
#include "widelimit/engine/cpu/vector/strip-inl.hpp"

#include <cmath>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

template <typename T>
bool begin_strip_of(const Strip<T>& strip, T near) {
  const hn::ScalableTag<T> d;
  const auto one = hn::Set(d, T(1));
  const auto limit = hn::Set(d, near);
  bool any = false;
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto rho = hn::Min(one, hn::Max(hn::Neg(one), hn::LoadU(d, strip.rho + k)));
    const auto t = hn::Sub(one, hn::Abs(rho));
    any |= !hn::AllFalse(d, hn::Lt(t, limit));
    hn::StoreU(rho, d, strip.rho + k);
    hn::StoreU(t, d, strip.t + k);
    for (Index m = 0; m < strip.channels; ++m) {
      const bool trained = m >= strip.trained_begin && m < strip.trained_end;
      hn::StoreU(trained ? rho : hn::Zero(d), d, strip.theta + m * strip.theta_stride + k);
    }
  });
  return any;
}

template <typename T>
void add_rho_of(Index begin, Index end, const Strip<T>& strip) {
  const hn::ScalableTag<T> d;
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto rho = hn::LoadU(d, strip.rho + k);
    for (Index m = begin; m < end; ++m) {
      T* theta = strip.theta + m * strip.theta_stride + k;
      hn::StoreU(hn::Add(hn::LoadU(d, theta), rho), d, theta);
    }
  });
}

/// 1−ρ and 1+ρ, both without cancellation.
template <class V>
struct Complements {
  V minus;
  V plus;
};
template <class D, class V>
HWY_INLINE Complements<V> complements(D d, V rho, V t) {
  const auto positive = hn::Ge(rho, hn::Zero(d));
  const auto far = hn::Sub(hn::Set(d, hn::TFromD<D>(2)), t);
  return {hn::IfThenElse(positive, t, far), hn::IfThenElse(positive, far, t)};
}

/// With δ = 1 − aa' − cc':  1 ∓ ρ_new = δ + aa'(1 ∓ ρ) + cc'(1 ∓ σ), all terms nonnegative; σ is the other correlation,
/// given by its complements.
template <class D, class V>
HWY_INLINE void mix(D d, V delta, V aa, V cc, Complements<V> first, Complements<V> second, V* rho, V* t) {
  const auto one = hn::Set(d, hn::TFromD<D>(1));
  const auto minus = hn::MulAdd(aa, first.minus, hn::MulAdd(cc, second.minus, delta));
  const auto plus = hn::MulAdd(aa, first.plus, hn::MulAdd(cc, second.plus, delta));
  const auto positive = hn::Le(minus, plus);
  *t = hn::Min(one, hn::IfThenElse(positive, minus, plus));
  const auto absolute = hn::Sub(one, *t);
  *rho = hn::IfThenElse(positive, absolute, hn::Neg(absolute));
}

template <typename T>
void blend_constant_of(const Sides<T>& a, const Sides<T>& c, Index begin, Index end, const Strip<T>& strip) {
  const hn::ScalableTag<T> d;
  const Complements<hn::Vec<decltype(d)>> constant{hn::Zero(d), hn::Set(d, T(2))};
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto a_row = row_side(d, a, k);
    const auto a_col = hn::LoadU(d, a.col + k);
    const auto c_row = row_side(d, c, k);
    const auto c_col = hn::LoadU(d, c.col + k);
    const auto aa = hn::Mul(a_row, a_col);
    auto rho = hn::LoadU(d, strip.rho + k);
    auto t = hn::LoadU(d, strip.t + k);
    mix(d, mismatch(a_row, a_col, c_row, c_col), aa, hn::Mul(c_row, c_col), complements(d, rho, t), constant, &rho, &t);
    hn::StoreU(rho, d, strip.rho + k);
    hn::StoreU(t, d, strip.t + k);
    for (Index m = 0; m < strip.channels; ++m) {
      T* theta = strip.theta + m * strip.theta_stride + k;
      const auto scaled = hn::Mul(aa, hn::LoadU(d, theta));
      hn::StoreU(m >= begin && m < end ? hn::Add(scaled, rho) : scaled, d, theta);
    }
  });
}

template <typename T>
void blend_of(const Sides<T>& a, const Sides<T>& b, const Strip<T>& other, const Strip<T>& strip) {
  const hn::ScalableTag<T> d;
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto a_row = row_side(d, a, k);
    const auto a_col = hn::LoadU(d, a.col + k);
    const auto b_row = row_side(d, b, k);
    const auto b_col = hn::LoadU(d, b.col + k);
    const auto aa = hn::Mul(a_row, a_col);
    const auto bb = hn::Mul(b_row, b_col);
    auto rho = hn::LoadU(d, strip.rho + k);
    auto t = hn::LoadU(d, strip.t + k);
    const auto second = complements(d, hn::LoadU(d, other.rho + k), hn::LoadU(d, other.t + k));
    mix(d, mismatch(a_row, a_col, b_row, b_col), aa, bb, complements(d, rho, t), second, &rho, &t);
    hn::StoreU(rho, d, strip.rho + k);
    hn::StoreU(t, d, strip.t + k);
    for (Index m = 0; m < strip.channels; ++m) {
      T* theta = strip.theta + m * strip.theta_stride + k;
      const auto added = hn::Mul(bb, hn::LoadU(d, other.theta + m * other.theta_stride + k));
      hn::StoreU(hn::MulAdd(aa, hn::LoadU(d, theta), added), d, theta);
    }
  });
}

template <typename T>
void shrink_of(T rate, const Strip<T>& strip) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, rate);
  const auto complement = hn::Set(d, T(1) - rate);
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    hn::StoreU(hn::Mul(factor, hn::LoadU(d, strip.rho + k)), d, strip.rho + k);
    hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, strip.t + k), complement), d, strip.t + k);
    scale_theta(d, factor, strip, k);
  });
}

template <typename T>
bool write_out_of(const T* values, Index size, const Sides<T>& s, T* out) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto count = static_cast<std::size_t>(size);
  const auto largest = hn::Set(d, std::numeric_limits<T>::max());
  auto in_range = hn::Eq(largest, largest);
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto value = hn::Mul(hn::Mul(hn::LoadU(d, values + k), row_side(d, s, k)), hn::LoadU(d, s.col + k));
    in_range = hn::And(in_range, hn::Le(hn::Abs(value), largest));
    hn::StoreU(value, d, out + k);
  }
  bool finite = hn::AllTrue(d, in_range);
  for (; k < count; ++k) {
    out[k] = values[k] * s.row[s.row_varies ? k : 0] * s.col[k];
    finite &= std::isfinite(out[k]);
  }
  return finite;
}

bool begin_strip_f32(const Strip<float>& strip, float near) { return begin_strip_of(strip, near); }
bool begin_strip_f64(const Strip<double>& strip, double near) { return begin_strip_of(strip, near); }
void add_rho_f32(Index begin, Index end, const Strip<float>& strip) { add_rho_of(begin, end, strip); }
void add_rho_f64(Index begin, Index end, const Strip<double>& strip) { add_rho_of(begin, end, strip); }
void blend_constant_f32(const Sides<float>& a, const Sides<float>& c, Index begin, Index end,
                        const Strip<float>& strip) {
  blend_constant_of(a, c, begin, end, strip);
}
void blend_constant_f64(const Sides<double>& a, const Sides<double>& c, Index begin, Index end,
                        const Strip<double>& strip) {
  blend_constant_of(a, c, begin, end, strip);
}
void blend_f32(const Sides<float>& a, const Sides<float>& b, const Strip<float>& other, const Strip<float>& strip) {
  blend_of(a, b, other, strip);
}
void blend_f64(const Sides<double>& a, const Sides<double>& b, const Strip<double>& other, const Strip<double>& strip) {
  blend_of(a, b, other, strip);
}
void shrink_f32(float rate, const Strip<float>& strip) { shrink_of(rate, strip); }
void shrink_f64(double rate, const Strip<double>& strip) { shrink_of(rate, strip); }
bool write_out_f32(const float* values, Index size, const Sides<float>& s, float* out) {
  return write_out_of(values, size, s, out);
}
bool write_out_f64(const double* values, Index size, const Sides<double>& s, double* out) {
  return write_out_of(values, size, s, out);
}
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(begin_strip_f32);
HWY_EXPORT(begin_strip_f64);
HWY_EXPORT(add_rho_f32);
HWY_EXPORT(add_rho_f64);
HWY_EXPORT(blend_constant_f32);
HWY_EXPORT(blend_constant_f64);
HWY_EXPORT(blend_f32);
HWY_EXPORT(blend_f64);
HWY_EXPORT(shrink_f32);
HWY_EXPORT(shrink_f64);
HWY_EXPORT(write_out_f32);
HWY_EXPORT(write_out_f64);
HWY_EXPORT(target_name);

template <>
bool begin_strip(const Strip<float>& strip, float near) {
  return HWY_DYNAMIC_DISPATCH(begin_strip_f32)(strip, near);
}
template <>
bool begin_strip(const Strip<double>& strip, double near) {
  return HWY_DYNAMIC_DISPATCH(begin_strip_f64)(strip, near);
}
template <>
void add_rho(Index begin, Index end, const Strip<float>& strip) {
  HWY_DYNAMIC_DISPATCH(add_rho_f32)(begin, end, strip);
}
template <>
void add_rho(Index begin, Index end, const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(add_rho_f64)(begin, end, strip);
}
template <>
void blend_constant(const Sides<float>& a, const Sides<float>& c, Index begin, Index end, const Strip<float>& strip) {
  HWY_DYNAMIC_DISPATCH(blend_constant_f32)(a, c, begin, end, strip);
}
template <>
void blend_constant(const Sides<double>& a, const Sides<double>& c, Index begin, Index end,
                    const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(blend_constant_f64)(a, c, begin, end, strip);
}
template <>
void blend(const Sides<float>& a, const Sides<float>& b, const Strip<float>& other, const Strip<float>& strip) {
  HWY_DYNAMIC_DISPATCH(blend_f32)(a, b, other, strip);
}
template <>
void blend(const Sides<double>& a, const Sides<double>& b, const Strip<double>& other, const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(blend_f64)(a, b, other, strip);
}
template <>
void shrink(float rate, const Strip<float>& strip) {
  HWY_DYNAMIC_DISPATCH(shrink_f32)(rate, strip);
}
template <>
void shrink(double rate, const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(shrink_f64)(rate, strip);
}
template <>
bool write_out(const float* values, Index size, const Sides<float>& s, float* out) {
  return HWY_DYNAMIC_DISPATCH(write_out_f32)(values, size, s, out);
}
template <>
bool write_out(const double* values, Index size, const Sides<double>& s, double* out) {
  return HWY_DYNAMIC_DISPATCH(write_out_f64)(values, size, s, out);
}
/// Networks outside the rectifier family are computed in double for any output precision.
template <>
bool write_out(const double* values, Index size, const Sides<double>& s, float* out) {
  bool finite = true;
  for (Index k = 0; k < size; ++k) {
    out[k] = static_cast<float>(values[k] * s.row[s.row_varies ? k : 0] * s.col[k]);
    finite &= std::isfinite(out[k]);
  }
  return finite;
}

const char* vector_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace widelimit::cpu
#endif
