#pragma once

#include "widelimit/engine/cuda/cone/cone_device.hpp"
#include "widelimit/engine/cuda/plugin/dense_math.hpp"
#include "widelimit/engine/host/cone/cone_extremes.hpp"

#include <limits>
#include <numbers>

/// One entry of a certificate's sums, compiled for the device and, in tests, for the host: the formulas of
/// widelimit/engine/host/cone and widelimit/certificate/cone/entry_bounds.cpp for scalars. Sums, products and
/// comparisons match the CPU; the compiler may fuse a product and a sum, which the error bounds allow.
/// [docs/theory/certificates-proof.md#other-processors]
namespace widelimit::cuda {

/// κ(u) and κ'(u).
struct ConeValue {
  double value = 0, slope = 0;
};

/// Returns κ(u) and, if `sloped`, κ'(u), from u and t = 1 − |u|.                       [engine/host/cone/cone-inl.hpp]
template <bool sloped>
WIDELIMIT_BOTH inline ConeValue kappa_of(const ConeChainView& chain, double u, double t) {
  double rho = u, rho_slope = 1;
  double theta = chain.trained * u, theta_slope = chain.trained;
  for (int k = 0; k < chain.depth; ++k) {
    const host::ConeLayer layer = chain.layers[k];
    const double over_pi = layer.bend * std::numbers::inv_pi;
    const double root = std::sqrt(t);
    const double bent = root * t * over_pi * bend_polynomial(t);
    const double angle = root * over_pi * arccos_polynomial(t);
    const bool positive = rho >= 0;
    const double absolute = 1 - t;
    const double factor = layer.linear + (positive ? layer.bend - angle : angle);
    double factor_slope = 0;
    if constexpr (sloped) {
      const double kept = most(t, host::least_rest);
      factor_slope = over_pi / std::sqrt(kept * (2 - kept)) * rho_slope;
    }
    if (positive) {
      rho = absolute + bent;
      t = most(0.0, t - bent);
    } else {
      rho = std::fma(-layer.linear, absolute, bent);
      const double tilt = std::fma(layer.linear, t, bent);
      t = most(0.0, rho >= 0 ? (1 + layer.linear) - tilt : layer.bend + tilt);
    }
    if constexpr (sloped) {
      rho_slope *= factor;
      theta_slope = std::fma(layer.trained, rho_slope, std::fma(theta, factor_slope, theta_slope * factor));
    }
    theta = std::fma(layer.trained, rho, theta * factor);
  }
  return chain.tangent ? ConeValue{theta, theta_slope} : ConeValue{rho, rho_slope};
}
WIDELIMIT_BOTH inline double kappa_at(const ConeChainView& chain, double u) {
  return kappa_of<false>(chain, u, most(0.0, 1 - std::abs(u))).value;
}

constexpr double cone_up = 1 + host::ratio_slack;
constexpr double cone_down = 1 - host::ratio_slack;

/// Returns a/N moved down (up) by more than the rounding errors of a·(1/N) and 1/N, clamped to [−1, 1].
WIDELIMIT_BOTH inline double ratio_down(double a, double inverse) {
  const double u = a * inverse;
  return most(-1.0, least(1.0, u * (u > 0 ? cone_down : cone_up)));
}
WIDELIMIT_BOTH inline double ratio_up(double a, double inverse) { return -ratio_down(-a, inverse); }
WIDELIMIT_BOTH inline double safe_inverse(double norm) { return 1 / most(norm, 1e-300); }

/// A range of a over a ball, whose range of N is [inner, outer].
struct ConeRange {
  double low, high;
  const ConeBallView& ball;
};

/// Lower bound of N·κ(a/N) over [a_low, a_high] for fixed N: κ is minimal at the end nearest to its minimum, or there.
WIDELIMIT_BOTH inline double least_on_row(const ConeProfileView& cone, const ConeRange& range, double norm,
                                          double inverse) {
  const double left = ratio_down(range.low, inverse), right = ratio_up(range.high, inverse);
  const bool grows = left > cone.growth_begin;
  if (!grows && !(right < cone.fall_end)) return norm * cone.lowest_value;
  return norm * kappa_at(cone.chain, grows ? left : right);
}

/// Lower bound for a_low < 0.                      [lowest_below, certificate/cone/entry_bounds.cpp]
WIDELIMIT_BOTH inline double least_below(const ConeProfileView& cone, const ConeRange& range) {
  const ConeBallView& ball = range.ball;
  const bool deep = cone.lowest_value < 0;
  const double end = deep ? range.low : range.high;
  const bool at_inner = (!deep && range.high >= 0) || -end * cone_up <= -cone.below.high * ball.inner;
  if (at_inner || -end >= -cone.below.low * ball.outer * cone_up) {
    return least_on_row(cone, range, at_inner ? ball.inner : ball.outer,
                        at_inner ? ball.inner_inverse : ball.outer_inverse);
  }
  return least(cone.below.slope * range.low, cone.below.slope * range.high);
}

/// Upper bound if the left end is farther from 0 than the right one.
/// [IntervalEntryBounds::high_on_the_left, certificate/cone/entry_bounds.cpp]
WIDELIMIT_BOTH inline double most_on_the_left(const ConeProfileView& cone, const ConeRange& range, double bound) {
  if (range.high < 0) bound = -std::numeric_limits<double>::infinity();
  for (int edge = 0; edge < 2; ++edge) {
    const double norm = edge == 0 ? most(range.ball.inner, -range.high) : range.ball.outer;
    const double inverse = safe_inverse(norm);
    for (int side = 0; side < 2; ++side) {
      const double a = side == 0 ? range.low : range.high;
      const double up = ratio_up(a, inverse);
      const double u = up < cone.lowest ? ratio_down(a, inverse) : up;
      bound = most(bound, norm * kappa_at(cone.chain, u));
    }
  }
  const double crossing = least(-range.low, range.ball.outer) * cone_up;
  return crossing >= range.ball.inner ? most(bound, crossing * cone.opposite) : bound;
}

/// Lower bound through a_low ≥ 0, or upper bound through a_high (any finite value if a_high < 0). Both cases share one
/// evaluation of κ, so that threads with weights of either sign do not diverge.
/// [engine/host/cone/cone_extremes.cpp, Side]
WIDELIMIT_BOTH inline double interval_side(const ConeProfileView& cone, const ConeRange& range, bool lower) {
  const ConeBallView& ball = range.ball;
  const double a = lower ? range.low : range.high;
  const bool grows = a <= ball.grows, falls = a >= ball.falls;
  if (lower && !grows && !falls) return cone.above.slope * a;
  const auto kappa = [&](double inverse) {
    return kappa_at(cone.chain, most(0.0, least(1.0, a * inverse * (lower ? cone_down : cone_up))));
  };
  const bool at_inner = lower ? grows : falls;
  double bound = (at_inner ? ball.inner : ball.outer) * kappa(at_inner ? ball.inner_inverse : ball.outer_inverse);
  if (lower) return bound;
  if (!grows && !falls) bound = most(bound, ball.inner * kappa(ball.inner_inverse));
  const double crossing = least(a, ball.outer) * cone_up;
  return crossing >= ball.inner ? most(bound, crossing * cone.largest) : bound;
}

/// Lower or upper bound of N·κ(a/N) over the ball, exact up to rounding.
WIDELIMIT_BOTH inline double interval_bound(const ConeProfileView& cone, const ConeRange& range, bool lower) {
  if (lower && range.low < 0) return least_below(cone, range);
  const double bound = interval_side(cone, range, lower);
  return !lower && -range.low > range.high ? most_on_the_left(cone, range, bound) : bound;
}

/// EQ Theorem 4.2: bounds a/N by quotients of the ends and N·κ by products of ends.
WIDELIMIT_BOTH inline double paper_bound(const ConeProfileView& cone, const ConeRange& range, bool lower) {
  const ConeBallView& ball = range.ball;
  const double left = ratio_down(range.low, range.low < 0 ? ball.inner_inverse : ball.outer_inverse);
  const double right = ratio_up(range.high, range.high > 0 ? ball.inner_inverse : ball.outer_inverse);
  const double u = lower && !(right < cone.fall_end) ? left : right;
  double value = kappa_at(cone.chain, u);
  if (lower && u <= cone.growth_begin && right >= cone.fall_end) value = cone.lowest_value;
  if (!lower && -range.low > range.high) value = most(value, kappa_at(cone.chain, left));
  return value * ((value > 0) == lower ? ball.inner : ball.outer);
}

/// Adds term i of a sum: weight times bound. Samples with weight 0 are skipped.
WIDELIMIT_BOTH inline double add_bound(const ConeBoundCall& call, const ConeSumView& request, Index i, double sum) {
  const double weight = call.weights[request.weights * call.support + i];
  if (weight == 0) return sum;
  const ConeBallView& ball = call.balls[request.ball];
  const double a = call.inner[ball.point * call.support + i];
  const double reach = std::fma(ball.radius, call.spread != nullptr ? call.spread[i] : 1.0, ball.error);
  ConeRange range{most(a - reach, -ball.outer), least(a + reach, ball.outer), ball};
  if (call.middle != nullptr) {
    const double middle = call.middle[request.ball * call.support + i];
    const double half = call.reach[request.ball * call.support + i] + ball.box_error;
    range.low = most(range.low, middle - half);
    range.high = least(range.high, middle + half);
  }
  const bool lower = weight > 0;
  const double bound =
      call.exact ? interval_bound(call.profile, range, lower) : paper_bound(call.profile, range, lower);
  return std::fma(weight, bound, sum);
}

/// Below this value of 1 − |u|, cancellation makes the inner product too inaccurate.  [docs/theory/numerics.md]
constexpr double least_kept = 0x1p-20;

/// Returns entry (k, i) itself; near |u| = 1 it computes 1 − |u| = ½‖x/N ∓ x̂ᵢ‖².
WIDELIMIT_BOTH inline double cone_entry(const ConeEntryCall& call, Index k, Index i) {
  const double norm = call.norms[k], length = call.lengths[i];
  const double inverse = norm > 0 ? 1 / norm : 0;
  const double u = most(-1.0, least(1.0, call.inner[k * call.support + i] * inverse));
  double t = 1 - std::abs(u);
  if (t < least_kept && length != 0) {
    const double sign = u < 0 ? -1 : 1;
    double sum = 0;
    for (Index j = 0; j < call.features; ++j) {
      const double difference =
          call.points[k * call.features + j] / norm - sign * call.directions[i * call.features + j];
      sum = std::fma(difference, difference, sum);
    }
    t = sum / 2;
  }
  const double entry = kappa_of<false>(call.chain, u, t).value * (call.scale * norm * length);
  return call.exponents[i] != 0 ? std::ldexp(entry, call.exponents[i]) : entry;
}

/// Adds the terms of pair (k, i) of a descent to Σwκ and Σw(κ − uκ'), and overwrites the pair's entry with its slope.
struct ConeSlopeSums {
  double value = 0, along = 0;
};
WIDELIMIT_BOTH inline void add_slope(const ConeSlopeCall& call, Index k, Index i, ConeSlopeSums& sums) {
  const double norm = call.norms[k];
  const double inverse = norm > 0 ? 1 / norm : 0;
  double& entry = call.inner[k * call.support + i];
  const double u = most(-call.most, least(call.most, entry * inverse));
  const double weight = call.weights[call.which[k] * call.support + i];
  const ConeValue kappa = kappa_of<true>(call.chain, u, 1 - std::abs(u));
  sums.value = std::fma(weight, kappa.value, sums.value);
  sums.along = std::fma(weight, std::fma(-u, kappa.slope, kappa.value), sums.along);
  entry = weight * kappa.slope;
}

/// Residuals of sample i for ball k: add_inner adds feature j of ⟨x̂ᵢ, c⟩, place_of returns t of y = x̂ᵢ − tĉ,
/// and add_reach adds feature j of the reach. [engine/host/residual.hpp]
WIDELIMIT_BOTH inline double add_inner(const ConeResidualCall& call, Index k, Index i, Index j, double sum) {
  return std::fma(call.directions[i * call.features + j], call.centre[k * call.features + j], sum);
}
WIDELIMIT_BOTH inline double place_of(const ConeResidualCall& call, Index k, Index i, double inner) {
  return residual_place(inner, call.samples != nullptr ? call.samples[i].offset : 0, call.norms[k]);
}
WIDELIMIT_BOTH inline double add_reach(const ConeResidualCall& call, Index k, Index i, Index j, double t, double sum) {
  const double y = std::fma(-t, call.unit[k * call.features + j], call.directions[i * call.features + j]);
  return call.euclidean ? std::fma(y, y, sum) : std::fma(std::abs(y), call.half[k * call.features + j], sum);
}
/// Entry j of row i; with a fused multiply-add, the difference has one relative rounding error.
WIDELIMIT_BOTH inline double residual_entry(const ConeRowCall& call, Index i, Index j) {
  const double t = call.t[i];
  if (j == call.features) return -call.last * t;
  return call.half[j] * std::fma(-t, call.unit[j], call.directions[i * call.features + j]);
}

}  // namespace widelimit::cuda
