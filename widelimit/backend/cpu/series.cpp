#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/backend/cpu/series.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once for each instruction set; strip-inl.hpp must follow it.
#include "widelimit/backend/cpu/strip-inl.hpp"

#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

/// Horner's rule on the value and the derivative at once.
void series_of(const Series& series, const Strip<double>& strip) {
  const D d;
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto rho = hn::LoadU(d, strip.rho + k);
    auto value = hn::Zero(d);
    auto slope = hn::Zero(d);
    for (int i = series.count - 1; i >= 0; --i) {
      const double* row = series.row + i * series.row_stride;
      const auto row_value = row_side(d, Sides<double>{row, nullptr, series.row_varies, series.row_in_groups}, k);
      const auto coefficient = hn::Mul(row_value, hn::LoadU(d, series.col + i * series.col_stride + k));
      slope = hn::MulAdd(slope, rho, value);
      value = hn::MulAdd(value, rho, coefficient);
    }
    store_correlation(d, value, strip, k);
    scale_theta(d, slope, strip, k);
  });
}

HWY_INLINE V polynomial(D d, const double* coefficients, int count, V x) {
  auto value = hn::Zero(d);
  for (int i = count - 1; i >= 0; --i) value = hn::MulAdd(value, x, hn::Set(d, coefficients[i]));
  return value;
}

void arc_cosine_of(const ArcCosinePolynomials& polynomials, const Strip<double>& strip) {
  const D d;
  const auto pi = hn::Set(d, std::numbers::pi);
  const int count = polynomials.count;
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto rho = hn::LoadU(d, strip.rho + k);
    const auto t = hn::LoadU(d, strip.t + k);
    const auto sine = hn::Sqrt(hn::Mul(t, hn::Sub(hn::Set(d, 2.0), t)));
    const auto angle = arccos_of(d, t);
    const auto opening = hn::IfThenElse(hn::Ge(rho, hn::Zero(d)), hn::Sub(pi, angle), angle);  // π − arccos ρ
    const auto value = hn::MulAdd(polynomial(d, polynomials.a, count, rho), sine,
                                  hn::Mul(polynomial(d, polynomials.b, count, rho), opening));
    const auto slope = hn::MulAdd(polynomial(d, polynomials.a_dot, count, rho), sine,
                                  hn::Mul(polynomial(d, polynomials.b_dot, count, rho), opening));
    store_correlation(d, value, strip, k);
    scale_theta(d, slope, strip, k);
  });
}

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(series_of);
HWY_EXPORT(arc_cosine_of);

void series_strip(const Series& series, const Strip<double>& strip) { HWY_DYNAMIC_DISPATCH(series_of)(series, strip); }
void arc_cosine_strip(const ArcCosinePolynomials& polynomials, const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(arc_cosine_of)(polynomials, strip);
}

}  // namespace widelimit::cpu
#endif
