#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/vector/mixture.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; strip-inl.hpp must follow it.
#include "widelimit/engine/cpu/vector/strip-inl.hpp"

#include "widelimit/recipe/quadrature/logistic_mixture.hpp"

#include <cmath>
#include <numbers>
#include <span>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;

HWY_INLINE M unresolved_at(D d, const SeriesRemainders& rests, const Strip<double>& strip, std::size_t k) {
  const auto one = hn::Set(d, 1.0);
  const auto rest = [&](const Sides<double>& value, const Sides<double>& slope)
                        HWY_ATTR { return hn::Max(product(d, value, k), product(d, slope, k)); };
  auto power = hn::Abs(hn::LoadU(d, strip.rho + k));
  for (int i = 0; i < 8; ++i) power = hn::Mul(power, power);  // |ρ|²⁵⁶
  const auto first = hn::Gt(hn::Mul(power, rest(rests.value, rests.slope)), one);
  power = hn::Mul(power, power);
  power = hn::Mul(power, power);
  return hn::And(first, hn::Gt(hn::Mul(power, rest(rests.long_value, rests.long_slope)), one));
}

bool any_unresolved_in(const SeriesRemainders& rests, const Strip<double>& strip) {
  const D d;
  const auto size = static_cast<std::size_t>(strip.size);
  for (std::size_t k = 0; k < size; k += hn::Lanes(d)) {
    const auto inside = hn::FirstN(d, size - k);
    if (!hn::AllFalse(d, hn::And(inside, unresolved_at(d, rests, strip, k)))) return true;
  }
  return false;
}

/// e = r/√(r² + σ²), h = σ/√(r² + σ²) and 1/e of one side for all terms, one vector each.
struct MixtureWeights {
  static constexpr std::size_t most = 32;
  double e[most * strip_padding];
  double h[most * strip_padding];
  double over_e[most * strip_padding];
};
HWY_INLINE void find_weights(D d, V r, double scale, std::span<const MixtureTerm> mixture, MixtureWeights& weights) {
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = 0; j < mixture.size(); ++j) {
    const auto sigma = hn::Set(d, scale * mixture[j].deviation);
    const auto whole = hn::Sqrt(hn::MulAdd(r, r, hn::Mul(sigma, sigma)));
    const auto inverse = hn::Div(hn::Set(d, 1.0), whole);
    hn::StoreU(hn::Mul(r, inverse), d, weights.e + j * lanes);
    hn::StoreU(hn::Mul(sigma, inverse), d, weights.h + j * lanes);
    hn::StoreU(hn::Div(whole, r), d, weights.over_e + j * lanes);
  }
}

/// One term of the double sum at x = ee'ρ, y = 1 − |x|; see logistic_mixture.hpp and the duals of erf, gelu and relu.
struct Term {
  V rho;
  V ee;
  V hh;
  V over_ee;
  V squares;  ///< h² + h'²
  V x;
  V y;
};

struct Sums {
  V value;
  V slope;
};

/// Relative to r r': signs of (u + σz) and (v + σ'z'), (2/π)·asin x and its slope (2/π)·ee'/√(1−x²).
HWY_INLINE Sums sign_term(D d, const Term& at) {
  const auto two_over_pi = hn::Set(d, 2 * std::numbers::inv_pi);
  const auto arcsine = hn::Sub(hn::Set(d, std::numbers::pi / 2), arccos_of(d, at.y));
  const auto root = hn::Sqrt(hn::Mul(at.y, hn::Sub(hn::Set(d, 2.0), at.y)));
  return {hn::Mul(two_over_pi, hn::CopySign(arcsine, at.x)), hn::Mul(two_over_pi, hn::Div(at.ee, root))};
}

/// relu of (u + σz) and (v + σ'z'): ½κ₁(x)/ee', ½κ₀(x).
HWY_INLINE Sums relu_term(D d, const Term& at) {
  const auto half_over_pi = hn::Set(d, 0.5 * std::numbers::inv_pi);
  const auto angle = arccos_of(d, at.y);
  const auto opening = hn::IfThenElse(hn::Ge(at.x, hn::Zero(d)), hn::Sub(hn::Set(d, std::numbers::pi), angle), angle);
  const auto root = hn::Sqrt(hn::Mul(at.y, hn::Sub(hn::Set(d, 2.0), at.y)));
  const auto value = hn::Mul(hn::MulAdd(opening, at.x, root), at.over_ee);
  return {hn::Mul(half_over_pi, value), hn::Mul(half_over_pi, opening)};
}

/// uΦ(u/σ) and vΦ(v/σ'), as for gelu.
HWY_INLINE Sums gelu_term(D d, const Term& at) {
  const auto over_2pi = hn::Set(d, 0.5 * std::numbers::inv_pi);
  const auto one = hn::Set(d, 1.0);
  const auto rest = hn::Mul(at.y, hn::Sub(hn::Set(d, 2.0), at.y));
  const auto arcsine = hn::CopySign(hn::Sub(hn::Set(d, std::numbers::pi / 2), arccos_of(d, at.y)), at.x);
  const auto both = hn::MulAdd(over_2pi, arcsine, hn::Set(d, 0.25));
  const auto over_root = hn::Div(one, hn::Sqrt(rest));
  const auto density = hn::Mul(hn::Mul(over_2pi, at.ee), over_root);
  const auto square = hn::Mul(at.rho, at.rho);
  const auto angular = hn::MulAdd(square, at.squares, hn::Sub(one, square));
  const auto bend = hn::Mul(at.hh, over_root);
  const auto curvature = hn::MulAdd(bend, bend, at.squares);
  return {hn::MulAdd(at.rho, both, hn::Mul(density, angular)), hn::MulAdd(hn::Mul(density, at.rho), curvature, both)};
}

/// Σ_jk w_j w_k·term(j, k), skipping products of weights below rounding.
template <class F>
HWY_INLINE Sums double_sum(D d, double scale, V rho, V t, V r_row, V r_col, const F& term) {
  const std::span<const MixtureTerm> mixture = logistic_mixture();
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, 1.0);
  MixtureWeights row, col;
  find_weights(d, r_row, scale, mixture, row);
  find_weights(d, r_col, scale, mixture, col);
  Sums sums{hn::Zero(d), hn::Zero(d)};
  for (std::size_t j = 0; j < mixture.size(); ++j) {
    const auto e = hn::LoadU(d, row.e + j * lanes);
    const auto h = hn::LoadU(d, row.h + j * lanes);
    const auto over_e = hn::LoadU(d, row.over_e + j * lanes);
    for (std::size_t k = 0; k < mixture.size(); ++k) {
      const double weight = mixture[j].weight * mixture[k].weight;
      if (weight < 1e-17) continue;
      const auto e_col = hn::LoadU(d, col.e + k * lanes);
      const auto h_col = hn::LoadU(d, col.h + k * lanes);
      Term at;
      at.rho = rho;
      at.ee = hn::Mul(e, e_col);
      at.hh = hn::Mul(h, h_col);
      at.over_ee = hn::Mul(over_e, hn::LoadU(d, col.over_e + k * lanes));
      at.squares = hn::MulAdd(h, h, hn::Mul(h_col, h_col));
      at.x = hn::Mul(at.ee, rho);
      at.y = hn::Min(one, hn::MulAdd(at.ee, t, hn::Add(at.hh, mismatch(e, e_col, h, h_col))));
      const Sums part = term(d, at);
      const auto w = hn::Set(d, weight);
      sums.value = hn::MulAdd(w, part.value, sums.value);
      sums.slope = hn::MulAdd(w, part.slope, sums.slope);
    }
  }
  return sums;
}

/// ρ and the factor of θ, both relative to the standard deviations after.
HWY_INLINE Sums mixture_at(D d, Phi phi, V rho, V t, V r_row, V r_col, V nn) {
  const auto rr = hn::Mul(r_row, r_col);
  switch (phi) {
    case Phi::tanh: {
      const Sums sums = double_sum(d, 0.5, rho, t, r_row, r_col, sign_term);
      return {hn::Mul(nn, sums.value), hn::Mul(nn, sums.slope)};
    }
    case Phi::sigmoid: {
      const auto quarter = hn::Mul(nn, hn::Set(d, 0.25));
      const Sums sums = double_sum(d, 1.0, rho, t, r_row, r_col, sign_term);
      return {hn::MulAdd(quarter, sums.value, quarter), hn::Mul(quarter, sums.slope)};
    }
    case Phi::softplus: {
      const Sums sums = double_sum(d, 1.0, rho, t, r_row, r_col, relu_term);
      const auto scale = hn::Mul(nn, rr);
      return {hn::Mul(scale, sums.value), hn::Mul(scale, sums.slope)};
    }
    default: {
      const Sums sums = double_sum(d, 1.0, rho, t, r_row, r_col, gelu_term);
      const auto scale = hn::Mul(nn, rr);
      return {hn::Mul(scale, sums.value), hn::Mul(scale, sums.slope)};
    }
  }
}

/// Accurate 1 − ρ_new near ρ = 1: its value at ρ = 1, where only the deviations differ, plus ∫ dρ_new/dρ from there, by
/// Gauss–Legendre quadrature in √t, in which the slope is smooth.
HWY_INLINE V left_to_one(D d, Phi phi, V t, V r_row, V r_col, V nn, V stretch) {
  constexpr double nodes[] = {0.04691007703066802, 0.23076534494715845, 0.5, 0.7692346550528415, 0.9530899229693319};
  constexpr double weights[] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324,
                                0.11846344252809454};
  const auto one = hn::Set(d, 1.0);
  const auto delta = hn::Div(hn::Sub(r_col, r_row), hn::Sqrt(hn::Mul(r_row, r_col)));
  const auto second_order = hn::Mul(hn::Mul(hn::Set(d, 0.5), hn::Mul(delta, delta)), stretch);
  const auto close = hn::Lt(hn::Abs(delta), hn::Set(d, 1e-4));
  auto left = second_order;
  if (!hn::AllTrue(d, close)) {
    const Sums at_one = mixture_at(d, phi, one, hn::Zero(d), r_row, r_col, nn);
    left = hn::IfThenElse(close, second_order, hn::Max(hn::Zero(d), hn::Sub(one, at_one.value)));
  }
  for (std::size_t i = 0; i < 5; ++i) {
    const auto part = hn::Mul(t, hn::Set(d, nodes[i] * nodes[i]));
    const Sums sums = mixture_at(d, phi, hn::Sub(one, part), part, r_row, r_col, nn);
    left = hn::MulAdd(hn::Mul(hn::Set(d, 2 * weights[i] * nodes[i]), t), sums.slope, left);
  }
  return left;
}

void mixture_of(Phi phi, const MixtureSides& sides, const SeriesRemainders& rests, const Strip<double>& strip,
                const DualStrip& dual) {
  const D d;
  const auto one = hn::Set(d, 1.0);
  const auto size = static_cast<std::size_t>(strip.size);
  for (std::size_t k = 0; k < size; k += hn::Lanes(d)) {
    const auto unresolved = hn::And(hn::FirstN(d, size - k), unresolved_at(d, rests, strip, k));
    if (hn::AllFalse(d, unresolved)) continue;
    // Resolved lanes may have deviation 0.
    const auto r_row = hn::IfThenElse(unresolved, row_side(d, sides.r, k), one);
    const auto r_col = hn::IfThenElse(unresolved, hn::LoadU(d, sides.r.col + k), one);
    const auto nn = product(d, sides.n, k);
    const auto rho = hn::LoadU(d, strip.rho + k);
    const auto t = hn::LoadU(d, strip.t + k);
    const Sums found = mixture_at(d, phi, rho, t, r_row, r_col, nn);
    auto left = hn::Sub(one, hn::Abs(found.value));
    auto value = found.value;
    auto near = hn::And(unresolved, hn::Lt(left, hn::Set(d, 1e-6)));
    if (phi != Phi::tanh) near = hn::And(near, hn::Ge(rho, hn::Zero(d)));
    if (!hn::AllFalse(d, near)) {
      const auto digits = left_to_one(d, phi, t, r_row, r_col, nn, product(d, sides.stretch, k));
      left = hn::IfThenElse(near, digits, left);
      value = hn::IfThenElse(near, hn::CopySign(hn::Sub(one, digits), value), value);
    }
    const auto blend = [&](V from, double* to)
                           HWY_ATTR { hn::StoreU(hn::IfThenElse(unresolved, from, hn::LoadU(d, to)), d, to); };
    blend(value, dual.rho + k);
    blend(left, dual.t + k);
    blend(found.slope, dual.slope + k);
  }
}

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(any_unresolved_in);
HWY_EXPORT(mixture_of);

bool any_unresolved(const SeriesRemainders& rests, const Strip<double>& strip) {
  return HWY_DYNAMIC_DISPATCH(any_unresolved_in)(rests, strip);
}

bool is_unresolved(const SeriesRemainders& rests, const Strip<double>& strip, Index k) {
  const auto side = [k](const Sides<double>& s) {
    return s.row[s.row_varies ? k : (s.row_in_groups ? k / strip_padding : 0)] * s.col[k];
  };
  double power = std::abs(strip.rho[k]);
  for (int i = 0; i < 8; ++i) power *= power;
  return power * std::max(side(rests.value), side(rests.slope)) > 1 &&
         power * power * power * power * std::max(side(rests.long_value), side(rests.long_slope)) > 1;
}

void mixture_strip(Phi phi, const MixtureSides& sides, const SeriesRemainders& rests, const Strip<double>& strip,
                   const DualStrip& dual) {
  HWY_DYNAMIC_DISPATCH(mixture_of)(phi, sides, rests, strip, dual);
}

}  // namespace widelimit::cpu
#endif
