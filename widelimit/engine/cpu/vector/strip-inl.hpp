// Vector helpers shared by several step files. Included once per target by Highway's foreach_target, hence no #pragma
// once; the guard is Highway's own idiom.
#if defined(WIDELIMIT_CPU_STRIP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDELIMIT_CPU_STRIP_INL
#undef WIDELIMIT_CPU_STRIP_INL
#else
#define WIDELIMIT_CPU_STRIP_INL
#endif

#include "widelimit/engine/cpu/vector/arccos_polynomials.hpp"
#include "widelimit/engine/cpu/vector/strip.hpp"

#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Horner's scheme with coefficients in ascending order.
template <class D, class V, std::size_t N>
HWY_INLINE V horner(D d, const hn::TFromD<D> (&coefficients)[N], V x) {
  V value = hn::Set(d, coefficients[N - 1]);
  for (std::size_t k = N - 1; k-- > 0;) value = hn::MulAdd(value, x, hn::Set(d, coefficients[k]));
  return value;
}

/// arccos(1−t) for t in [0, 1].
template <class D, class V>
HWY_INLINE V arccos_of(D d, V t) {
  return hn::Mul(hn::Sqrt(t), horner(d, ArccosPolynomials<hn::TFromD<D>>::p, t));
}

/// Loads the row-side value of a pair at element k.
template <class D, typename T>
HWY_INLINE hn::Vec<D> row_side(D d, const Sides<T>& side, std::size_t k) {
  if (side.row_varies) return hn::LoadU(d, side.row + k);
  return hn::Set(d, side.row[side.row_in_groups ? k / strip_padding : 0]);
}
template <class D, typename T>
HWY_INLINE hn::Vec<D> product(D d, const Sides<T>& side, std::size_t k) {
  return hn::Mul(row_side(d, side, k), hn::LoadU(d, side.col + k));
}

/// ½((a−a')² + (c−c')²), equal to 1 − aa' − cc' if a² + c² = 1 on both sides, without cancellation.
template <class V>
HWY_INLINE V mismatch(V a, V a_col, V c, V c_col) {
  const auto da = hn::Sub(a, a_col);
  const auto dc = hn::Sub(c, c_col);
  const auto sum = hn::MulAdd(da, da, hn::Mul(dc, dc));
  return hn::Mul(sum, hn::Set(hn::DFromV<V>(), hn::TFromV<V>(0.5)));
}

/// Stores ρ clamped to [−1, 1] and t = 1 − |ρ|; values of t below rounding become 0, so that equal inputs stay equal.
template <class D, class V, typename T>
HWY_INLINE void store_correlation(D d, V rho, const Strip<T>& strip, std::size_t k) {
  const auto one = hn::Set(d, T(1));
  const auto rest = hn::Sub(one, hn::Abs(rho));
  const auto equal = hn::Lt(rest, hn::Set(d, T(8) * std::numeric_limits<T>::epsilon()));
  hn::StoreU(hn::IfThenElse(equal, hn::CopySign(one, rho), rho), d, strip.rho + k);
  hn::StoreU(hn::IfThenZeroElse(equal, rest), d, strip.t + k);
}

/// θ_m ← θ_m·factor, plus the newly stored ρ for trained channels.
template <class D, class V, typename T>
HWY_INLINE void scale_theta(D d, V factor, const Strip<T>& strip, std::size_t k) {
  const auto rho = hn::LoadU(d, strip.rho + k);
  for (Index m = 0; m < strip.channels; ++m) {
    T* theta = strip.theta + m * strip.theta_stride + k;
    const bool trained = m >= strip.trained_begin && m < strip.trained_end;
    hn::StoreU(hn::MulAdd(hn::LoadU(d, theta), factor, trained ? rho : hn::Zero(d)), d, theta);
  }
}

/// Calls f(k) for the first element k of each vector of a strip.
template <class D, typename T, class F>
HWY_INLINE void each_vector(D d, const Strip<T>& strip, const F& f) {
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t k = 0; k < static_cast<std::size_t>(strip.size); k += lanes) f(k);
}

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
