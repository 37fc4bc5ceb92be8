#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/vector/smooth.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; the -inl headers must follow it.
#include "widelimit/engine/cpu/vector/strip-inl.hpp"

#include <hwy/contrib/math/math-inl.h>

#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

/// x = e e'ρ, the argument of the arc sine in the duals of erf, gelu and e^{−x²}, with y = 1 − |x| computed without
/// cancellation: 1 − ee'(1−t) = hh' + ½((e−e')² + (h−h')²) + ee't.
struct Argument {
  V rho;
  V t;
  V x;
  V y;
  V ee;
  V hh;
};

HWY_INLINE Argument argument(D d, const Sides<double>& e, const Sides<double>& h, const Strip<double>& strip,
                             std::size_t k) {
  const auto e_row = row_side(d, e, k);
  const auto e_col = hn::LoadU(d, e.col + k);
  const auto h_row = row_side(d, h, k);
  const auto h_col = hn::LoadU(d, h.col + k);
  Argument result;
  result.rho = hn::LoadU(d, strip.rho + k);
  result.t = hn::LoadU(d, strip.t + k);
  result.ee = hn::Mul(e_row, e_col);
  result.hh = hn::Mul(h_row, h_col);
  result.x = hn::Mul(result.ee, result.rho);
  const auto at_one = hn::Add(result.hh, mismatch(e_row, e_col, h_row, h_col));
  result.y = hn::Min(hn::Set(d, 1.0), hn::MulAdd(result.ee, result.t, at_one));
  return result;
}

/// asin x = ±(π/2 − arccos|x|).
HWY_INLINE V arcsine(D d, V x, V y) {
  return hn::CopySign(hn::Sub(hn::Set(d, std::numbers::pi / 2), arccos_of(d, y)), x);
}

/// The same, accurate for small x: below 0.45 a series replaces the difference π/2 − arccos, which cancels.
HWY_INLINE V arcsine_signed(D d, V x, V y) {
  const auto square = hn::Mul(x, x);
  // asin x = x·Σ c_k x^{2k}, c_k = (2k)!/(4^k k!² (2k+1)); 22 terms give 1e-16 for |x| ≤ 0.45.
  double c = 1;
  double coefficients[22];
  for (int k = 0; k < 22; ++k) {
    coefficients[k] = c / (2 * k + 1);
    c *= static_cast<double>(2 * k + 1) / static_cast<double>(2 * k + 2);
  }
  const auto series = hn::Mul(x, horner(d, coefficients, square));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0.45)), series, arcsine(d, x, y));
}

/// 1 − x² = y(2 − y).
HWY_INLINE V one_minus_square(D d, V y) { return hn::Mul(y, hn::Sub(hn::Set(d, 2.0), y)); }

void erf_of(const Sides<double>& e, const Sides<double>& h, const Sides<double>& n, const Sides<double>& s,
            const Strip<double>& strip) {
  const D d;
  const auto two_over_pi = hn::Set(d, 2 * std::numbers::inv_pi);
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const Argument at = argument(d, e, h, strip, k);
    const auto value = hn::Mul(hn::Mul(two_over_pi, arcsine_signed(d, at.x, at.y)), product(d, n, k));
    store_correlation(d, value, strip, k);
    scale_theta(d, hn::Div(product(d, s, k), hn::Sqrt(one_minus_square(d, at.y))), strip, k);
  });
}

/// ρ_new = nn'·(ρ·E[ΦΦ] + f·(1 − ρ² + ρ²(h²+h'²))),  E[φ'φ'] = E[ΦΦ] + f·ρ(h² + h'² + h²h'²/(1−x²)),
/// E[ΦΦ] = 1/4 + asin(x)/2π,  f = ee'/(2π√(1−x²)).                                    [recipe/dual.hpp, gelu_dual]
void gelu_of(const Sides<double>& e, const Sides<double>& h, const Sides<double>& n, const Strip<double>& strip) {
  const D d;
  const auto quarter = hn::Set(d, 0.25);
  const auto over_2pi = hn::Set(d, 0.5 * std::numbers::inv_pi);
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const Argument at = argument(d, e, h, strip, k);
    const auto h_row = row_side(d, h, k);
    const auto h_col = hn::LoadU(d, h.col + k);
    const auto squares = hn::MulAdd(h_row, h_row, hn::Mul(h_col, h_col));
    const auto rest = one_minus_square(d, at.y);
    const auto both = hn::MulAdd(over_2pi, arcsine_signed(d, at.x, at.y), quarter);
    const auto density = hn::Div(hn::Mul(over_2pi, at.ee), hn::Sqrt(rest));
    const auto angular = hn::MulAdd(hn::Mul(at.rho, at.rho), squares, one_minus_square(d, at.t));
    const auto scale = product(d, n, k);
    store_correlation(d, hn::Mul(scale, hn::MulAdd(at.rho, both, hn::Mul(density, angular))), strip, k);
    const auto curvature = hn::Add(squares, hn::Div(hn::Mul(at.hh, at.hh), rest));
    scale_theta(d, hn::Mul(scale, hn::MulAdd(hn::Mul(density, at.rho), curvature, both)), strip, k);
  });
}

void gaussian_of(const Sides<double>& e, const Sides<double>& h, const Sides<double>& n, const Sides<double>& s,
                 const Strip<double>& strip) {
  const D d;
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const Argument at = argument(d, e, h, strip, k);
    const auto rest = one_minus_square(d, at.y);
    const auto root = hn::Sqrt(rest);
    store_correlation(d, hn::Div(product(d, n, k), root), strip, k);
    scale_theta(d, hn::Div(hn::Mul(product(d, s, k), at.rho), hn::Mul(rest, root)), strip, k);
  });
}

/// (r−r')² + 2rr'(1∓ρ) = q + q' ∓ 2c without cancellation.
HWY_INLINE V squared_distance(D d, V difference, V rr, V complement) {
  return hn::MulAdd(difference, difference, hn::Mul(hn::Set(d, 2.0), hn::Mul(rr, complement)));
}
HWY_INLINE V one_minus_rho(D d, V rho, V t) {
  return hn::IfThenElse(hn::Ge(rho, hn::Zero(d)), t, hn::Sub(hn::Set(d, 2.0), t));
}
/// e^{−x} for x ≥ 0; clamps the argument to the domain of the vectorised exponential.
HWY_INLINE V decay(D d, V x) { return hn::Exp(d, hn::Neg(hn::Min(x, hn::Set(d, 745.0)))); }

void radial_of(double gamma, const Sides<double>& r, const Strip<double>& strip) {
  const D d;
  const auto rate = hn::Set(d, gamma);
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto r_row = row_side(d, r, k);
    const auto r_col = hn::LoadU(d, r.col + k);
    const auto rr = hn::Mul(r_row, r_col);
    const auto minus = one_minus_rho(d, hn::LoadU(d, strip.rho + k), hn::LoadU(d, strip.t + k));
    const auto value = decay(d, hn::Mul(rate, squared_distance(d, hn::Sub(r_row, r_col), rr, minus)));
    store_correlation(d, value, strip, k);
    scale_theta(d, hn::Mul(hn::Mul(hn::Add(rate, rate), rr), value), strip, k);
  });
}

void wave_of(bool odd, const Sides<double>& r, const Sides<double>& n, const Strip<double>& strip) {
  const D d;
  const auto half = hn::Set(d, 0.5);
  // sinh c = c·Σ c^{2k}/(2k+1)!
  const double sinh_series[] = {1.0,          1.0 / 6,        1.0 / 120,         1.0 / 5040,
                                1.0 / 362880, 1.0 / 39916800, 1.0 / 6227020800., 1.0 / 1307674368000.};
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto r_row = row_side(d, r, k);
    const auto r_col = hn::LoadU(d, r.col + k);
    const auto rr = hn::Mul(r_row, r_col);
    const auto rho = hn::LoadU(d, strip.rho + k);
    const auto t = hn::LoadU(d, strip.t + k);
    const auto difference = hn::Sub(r_row, r_col);
    const auto minus = decay(d, hn::Mul(half, squared_distance(d, difference, rr, one_minus_rho(d, rho, t))));
    const auto plus = decay(d, hn::Mul(half, squared_distance(d, difference, rr, one_minus_rho(d, hn::Neg(rho), t))));
    const auto c = hn::Mul(rr, rho);
    // Near c = 0 the difference of the two exponentials cancels; e^{−(q+q')/2} is their geometric mean.
    const auto small = hn::Mul(hn::Mul(hn::Sqrt(hn::Mul(minus, plus)), c), horner(d, sinh_series, hn::Mul(c, c)));
    const auto sinh = hn::IfThenElse(hn::Lt(hn::Abs(c), half), small, hn::Mul(half, hn::Sub(minus, plus)));
    const auto cosh = hn::Mul(half, hn::Add(minus, plus));
    const auto scale = product(d, n, k);
    store_correlation(d, hn::Mul(scale, odd ? sinh : cosh), strip, k);
    scale_theta(d, hn::Mul(hn::Mul(scale, rr), odd ? cosh : sinh), strip, k);
  });
}

void sign_of(const Strip<double>& strip) {
  const D d;
  const auto two_over_pi = hn::Set(d, 2 * std::numbers::inv_pi);
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto rho = hn::LoadU(d, strip.rho + k);
    const auto t = hn::LoadU(d, strip.t + k);
    hn::StoreU(hn::Mul(two_over_pi, arcsine_signed(d, rho, t)), d, strip.rho + k);
    hn::StoreU(hn::Mul(two_over_pi, arccos_of(d, t)), d, strip.t + k);
    scale_theta(d, hn::Zero(d), strip, k);
  });
}

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(erf_of);
HWY_EXPORT(gelu_of);
HWY_EXPORT(gaussian_of);
HWY_EXPORT(radial_of);
HWY_EXPORT(wave_of);
HWY_EXPORT(sign_of);

void erf_strip(const Sides<double>& e, const Sides<double>& h, const Sides<double>& n, const Sides<double>& d,
               const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(erf_of)(e, h, n, d, strip);
}
void gelu_strip(const Sides<double>& e, const Sides<double>& h, const Sides<double>& n, const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(gelu_of)(e, h, n, strip);
}
void gaussian_strip(const Sides<double>& e, const Sides<double>& h, const Sides<double>& n, const Sides<double>& d,
                    const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(gaussian_of)(e, h, n, d, strip);
}
void radial_strip(double gamma, const Sides<double>& r, const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(radial_of)(gamma, r, strip);
}
void wave_strip(bool odd, const Sides<double>& r, const Sides<double>& n, const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(wave_of)(odd, r, n, strip);
}
void sign_strip(const Strip<double>& strip) { HWY_DYNAMIC_DISPATCH(sign_of)(strip); }

}  // namespace widelimit::cpu
#endif
