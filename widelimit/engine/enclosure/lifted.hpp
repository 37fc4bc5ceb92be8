#pragma once

#include "widelimit/engine/enclosure/chain_entry.hpp"

/// Balls and samples as inputs of the first layer of a chain: x̃ = (x, b√d/w).
/// [docs/theory/certificates-proof.md#biases]
namespace widelimit {

/// A ball around c, the centre of the bounding box of ball ∩ box (for an ℓ2 ball the point itself), with z = x − c:
/// ‖x̃‖ = ‖c̃‖ + ⟨c,z⟩/‖c̃‖ + v, 0 ≤ v ≤ second_order. Lengths are in units of 2^exponent.
struct LiftedRange {
  Interval start;           ///< ‖c̃‖
  Interval norm;            ///< ‖x̃‖; contains `start`
  Interval lift;            ///< b√d/w
  double centre_norm = 1;   ///< a number in `start`, by which c is divided
  double factor = 1;        ///< factor of reaches: the radius for an ℓ2 ball
  double step = 0;          ///< upper bound of ‖z‖
  double second_order = 0;  ///< upper bound of ‖z‖²/(2‖c̃‖)
  double inner_error = 0;   ///< error of the computed ⟨c, xᵢ⟩/‖x̃ᵢ‖
  double sum_error = 0;     ///< relative error of a computed reach
  double reach_error = 0;   ///< its absolute error for a step of length 1
  int exponent = 0;
  bool has_cosine = false;  ///< ‖x̃‖ > 0 on the ball
};

/// A support sample.
struct LiftedSample {
  Interval norm;      ///< ‖x̃ᵢ‖, in units of 2^exponent
  Interval share;     ///< lift relative to the norm: (b√d/w)/‖x̃ᵢ‖
  double offset = 0;  ///< approximate contribution of the lifts to ⟨c̃, x̃ᵢ⟩/‖x̃ᵢ‖
  int exponent = 0;
  int unit = 0;  ///< √q after the last layer is in units of 2^unit
};

/// Cosine ρ of x̃ and x̃ᵢ for a sample and the x of a ball.
struct SampleCosine {
  bool has_cosine = false;  ///< false: x̃ or x̃ᵢ may be 0, and ρ is unknown
  Interval rho{-1, 1};      ///< ρ on the ball; contains ρ₀
  Interval start{-1, 1};    ///< ρ₀, at the centre
  double reach = 0;  ///< bound of |e|, e = ⟨x̃,x̃ᵢ⟩/‖x̃ᵢ‖ − ρ₀‖x̃‖; ρ − ρ₀ = e/‖x̃‖
};

/// The number t near ρ₀ that defines the residuals y = xᵢ/‖x̃ᵢ‖ − t·c/‖c̃‖. One sum and one quotient, hence
/// bit-identical on all processors.
[[nodiscard]] WIDELIMIT_BOTH inline double residual_place(double inner, double offset, double norm) {
  return (inner + offset) / norm;
}

/// Encloses the cosine from the computed ⟨c, xᵢ⟩/‖x̃ᵢ‖ and the computed maximum of |⟨z,y⟩|/factor over the ball. With
/// ρ₀ instead of t, y changes by (ρ₀ − t)·c/‖c̃‖, and |⟨z, c⟩| ≤ ‖z‖‖c̃‖.
[[nodiscard]] WIDELIMIT_BOTH inline SampleCosine cosine_of(const LiftedRange& ball, const LiftedSample& sample,
                                                           double inner, double reach) {
  SampleCosine result;
  result.has_cosine = ball.has_cosine && sample.norm.low > 0;
  if (!result.has_cosine) return result;
  const Interval product = outward(inner - ball.inner_error, inner + ball.inner_error) + ball.lift * sample.share;
  result.start = clamp(product / ball.start, -1, 1);
  const double t = residual_place(inner, sample.offset, ball.centre_norm);
  const double off = std::max(above(std::abs(result.start.high - t)), above(std::abs(result.start.low - t)));
  const double found = reach * ball.factor;
  const double variation = (found * (1 + ball.sum_error) + ball.step * (ball.reach_error + off)) * (1 + 0x1p-49);
  result.reach = above(above(variation) + above(result.start.modulus() * ball.second_order));
  const Interval turn = Interval::of(result.reach) / ball.norm;
  result.rho = clamp(Interval{(result.start - turn).low, (result.start + turn).high}, -1, 1);
  return result;
}

/// Pairs x̃ of given norm and cosine with a sample.
[[nodiscard]] WIDELIMIT_BOTH inline LiftedPair pair_of(const LiftedRange& ball, const LiftedSample& sample,
                                                       const Interval& norm, const Interval& rho) {
  return {norm, sample.norm, rho, ball.exponent, sample.exponent};
}

/// Encloses other·value of an entry on the whole ball, in units of the sample: the terms of functionals.
[[nodiscard]] WIDELIMIT_BOTH inline Interval enclose_on_ball(const ChainView& chain, const LiftedRange& ball,
                                                             const LiftedSample& sample, const SampleCosine& cosine) {
  const EnclosedEntry entry = enclose_entry(chain, pair_of(ball, sample, ball.norm, cosine.rho), false);
  return entry.other.in_units_of(sample.unit) * entry.value;
}

/// Encloses a coefficient that carries one rounding.
[[nodiscard]] WIDELIMIT_BOTH inline Interval enclosed_weight(double beta) {
  return beta == 0 ? Interval::of(0) : outward(beta, beta);
}

}  // namespace widelimit
