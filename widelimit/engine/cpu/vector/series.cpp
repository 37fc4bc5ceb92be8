#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/vector/series.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; strip-inl.hpp must follow it.
#include "widelimit/engine/cpu/vector/strip-inl.hpp"

#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

/// Maximum number of terms over the pairs of one vector; and the lanes for which these are all relevant terms of both
/// sides.
struct TermCount {
  int terms;
  hn::Mask<D> complete;
};
HWY_INLINE TermCount count_terms(D d, const Series& series, std::size_t k) {
  const auto most = hn::Max(row_side(d, series.sufficient_terms, k), hn::LoadU(d, series.sufficient_terms.col + k));
  const auto least = hn::Min(row_side(d, series.maximal_terms, k), hn::LoadU(d, series.maximal_terms.col + k));
  const auto rest = hn::Add(row_side(d, series.rest, k), hn::LoadU(d, series.rest.col + k));
  return {static_cast<int>(hn::GetLane(hn::MaxOfLanes(d, hn::Min(most, least)))),
          hn::And(hn::Le(most, least), hn::Eq(rest, hn::Zero(d)))};
}

/// Horner's scheme for c_k = A_k A'_k: the value, its derivative, and with C_j = Σ_{k>j} c_k
///   1 − Σ c_k xᵏ = ½Σ(A_k − A'_k)² + (1 − x)·Σ_j C_j xʲ,     x = |ρ|,
/// which has no cancellation for ρ near 1, since ΣA_k² = ΣA'_k² = 1. Odd functions are mirrored for ρ near −1.
template <bool own_slopes>
HWY_INLINE void horner_pair(D d, const Series& series, const Strip<double>& strip, std::size_t k,
                            const DualStrip& dual) {
  const auto one = hn::Set(d, 1.0);
  const auto half = hn::Set(d, 0.5);
  const auto rho = hn::LoadU(d, strip.rho + k);
  const auto t = hn::LoadU(d, strip.t + k);
  const auto x = hn::Abs(rho);
  const TermCount count = count_terms(d, series, k);
  auto value = hn::Zero(d), slope = hn::Zero(d), sum = hn::Zero(d), quotient = hn::Zero(d), apart = hn::Zero(d);
  for (int i = count.terms - 1; i >= 0; --i) {
    const auto shared = [&](const double* from) {
      return Sides<double>{from + i * series.row_stride, nullptr, series.sufficient_terms.row_varies,
                           series.sufficient_terms.row_in_groups};
    };
    const auto a = row_side(d, shared(series.row), k);
    const auto a_col = hn::LoadU(d, series.col + i * series.col_stride + k);
    const auto c = hn::Mul(a, a_col);
    if (own_slopes) {
      const auto b = row_side(d, shared(series.slope_row), k);
      slope = hn::MulAdd(slope, rho, hn::Mul(b, hn::LoadU(d, series.slope_col + i * series.col_stride + k)));
    } else {
      slope = hn::MulAdd(slope, rho, value);
    }
    value = hn::MulAdd(value, rho, c);
    if (i > 0) {
      sum = hn::Add(sum, c);
      quotient = hn::MulAdd(quotient, x, sum);
    }
    const auto difference = hn::Sub(a, a_col);
    apart = hn::MulAdd(difference, difference, apart);
  }
  const auto digits = hn::MulAdd(t, quotient, hn::Mul(half, apart));
  const auto size = hn::Abs(value);
  auto near = hn::And(hn::Ge(series.odd ? size : value, half), count.complete);
  if (!series.odd) near = hn::And(near, hn::Ge(rho, hn::Zero(d)));
  const auto rest = hn::IfThenElse(near, digits, hn::Sub(one, size));
  hn::StoreU(hn::IfThenElse(near, hn::CopySign(hn::Sub(one, digits), value), value), d, dual.rho + k);
  hn::StoreU(rest, d, dual.t + k);
  hn::StoreU(slope, d, dual.slope + k);
}

void series_of(const Series& series, const Strip<double>& strip, const DualStrip& dual) {
  const D d;
  if (series.slope_row != nullptr) {
    each_vector(d, strip, [&](std::size_t k) HWY_ATTR { horner_pair<true>(d, series, strip, k, dual); });
  } else {
    each_vector(d, strip, [&](std::size_t k) HWY_ATTR { horner_pair<false>(d, series, strip, k, dual); });
  }
}

/// 1 − xᵈ = (1 − x)(1 + x + … + xᵈ⁻¹), x = |ρ|.
void power_of(int degree, const Strip<double>& strip) {
  const D d;
  const auto one = hn::Set(d, 1.0);
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto rho = hn::LoadU(d, strip.rho + k);
    const auto x = hn::Abs(rho);
    auto before = hn::Zero(d), value = one, quotient = hn::Zero(d);
    for (int i = 0; i < degree; ++i) {
      before = value;
      value = hn::Mul(value, rho);
      quotient = hn::MulAdd(quotient, x, one);
    }
    const auto t = hn::Min(one, hn::Mul(hn::LoadU(d, strip.t + k), quotient));
    hn::StoreU(hn::CopySign(hn::Sub(one, t), value), d, strip.rho + k);
    hn::StoreU(t, d, strip.t + k);
    scale_theta(d, hn::Mul(hn::Set(d, static_cast<double>(degree)), before), strip, k);
  });
}

void store_dual_of(const DualStrip& dual, const Strip<double>& strip) {
  const D d;
  const auto one = hn::Set(d, 1.0);
  each_vector(d, strip, [&](std::size_t k) HWY_ATTR {
    const auto t = hn::Max(hn::Zero(d), hn::LoadU(d, dual.t + k));
    const auto rho = hn::LoadU(d, dual.rho + k);
    hn::StoreU(hn::Max(hn::Neg(one), hn::Min(one, rho)), d, strip.rho + k);
    hn::StoreU(t, d, strip.t + k);
    scale_theta(d, hn::LoadU(d, dual.slope + k), strip, k);
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

HWY_EXPORT(power_of);
HWY_EXPORT(store_dual_of);

void series_strip(const Series& series, const Strip<double>& strip, const DualStrip& dual) {
  HWY_DYNAMIC_DISPATCH(series_of)(series, strip, dual);
}
void power_strip(int degree, const Strip<double>& strip) { HWY_DYNAMIC_DISPATCH(power_of)(degree, strip); }
void store_dual(const DualStrip& dual, const Strip<double>& strip) { HWY_DYNAMIC_DISPATCH(store_dual_of)(dual, strip); }
void arc_cosine_strip(const ArcCosinePolynomials& polynomials, const Strip<double>& strip) {
  HWY_DYNAMIC_DISPATCH(arc_cosine_of)(polynomials, strip);
}

}  // namespace widelimit::cpu
#endif
