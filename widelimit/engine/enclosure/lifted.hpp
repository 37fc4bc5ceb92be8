#pragma once

#include "widelimit/engine/enclosure/chain_entry.hpp"

/// Balls and samples as the first layer of a chain sees them: x̃ = (x, b√d/w).
/// [docs/theory/certificates-proof.md#biases]
namespace widelimit {

/// A ball about the centre c of the box that surrounds ball ∩ box (of an ℓ2 ball the point itself), z = x − c:
/// ‖x̃‖ = ‖c̃‖ + ⟨c,z⟩/‖c̃‖ + v with 0 ≤ v ≤ bulge. Lengths are in units of 2^exponent.
struct LiftedRange {
  Interval start;          ///< ‖c̃‖
  Interval norm;           ///< ‖x̃‖; holds the start
  Interval lift;           ///< b√d/w
  double centre_norm = 1;  ///< a number of `start`, by which c is divided
  double factor = 1;       ///< what reaches are multiplied by: of an ℓ2 ball its radius
  double step = 0;         ///< ‖z‖ is no larger
  double bulge = 0;        ///< ‖z‖²/(2‖c̃‖) at the most
  double inner_error = 0;  ///< of ⟨c, xᵢ⟩/‖x̃ᵢ‖ as computed
  double sum_error = 0;    ///< of a reach as computed, a part of it
  double reach_error = 0;  ///< of the same for a step of length 1
  int exponent = 0;
  bool has_cosine = false;  ///< ‖x̃‖ > 0 on the ball
};

/// A sample of the support.
struct LiftedSample {
  Interval norm;      ///< ‖x̃ᵢ‖, in units of 2^exponent
  Interval share;     ///< of the lift: (b√d/w)/‖x̃ᵢ‖
  double offset = 0;  ///< about what the lifts add to ⟨c̃, x̃ᵢ⟩/‖x̃ᵢ‖
  int exponent = 0;
  int unit = 0;  ///< its √q after the last layer is in units of 2^unit
};

/// A sample beside a ball, with ρ the cosine of x̃ and x̃ᵢ.
struct SampleCosine {
  bool has_cosine = false;  ///< false: x̃ or x̃ᵢ may be 0, and nothing is known of ρ
  Interval rho{-1, 1};      ///< ρ on the ball; holds ρ₀
  Interval start{-1, 1};    ///< ρ₀, at the centre
  double reach = 0;  ///< of e = ⟨x̃,x̃ᵢ⟩/‖x̃ᵢ‖ − ρ₀‖x̃‖: |e| is no larger, and ρ − ρ₀ = e/‖x̃‖
};

/// The number t near ρ₀ by which residuals y = xᵢ/‖x̃ᵢ‖ − t·c/‖c̃‖ are taken. A sum and a quotient: the same bits on
/// every processor.
[[nodiscard]] WIDELIMIT_BOTH inline double residual_place(double inner, double offset, double norm) {
  return (inner + offset) / norm;
}

/// From ⟨c, xᵢ⟩/‖x̃ᵢ‖ and the largest |⟨z,y⟩|/factor over the ball, both as computed. With ρ₀ for t, y moves by
/// (ρ₀ − t)·c/‖c̃‖, and |⟨z, c⟩| ≤ ‖z‖‖c̃‖.
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
  const double swing = (found * (1 + ball.sum_error) + ball.step * (ball.reach_error + off)) * (1 + 0x1p-49);
  result.reach = above(above(swing) + above(result.start.modulus() * ball.bulge));
  const Interval turn = Interval::of(result.reach) / ball.norm;
  result.rho = clamp(Interval{(result.start - turn).low, (result.start + turn).high}, -1, 1);
  return result;
}

/// x̃ with a norm and a cosine of the ball beside a sample.
[[nodiscard]] WIDELIMIT_BOTH inline LiftedPair pair_of(const LiftedRange& ball, const LiftedSample& sample,
                                                       const Interval& norm, const Interval& rho) {
  return {norm, sample.norm, rho, ball.exponent, sample.exponent};
}

/// other·value of an entry on the whole ball, the first in the sample's units: what functionals weigh and add up.
[[nodiscard]] WIDELIMIT_BOTH inline Interval enclose_on_ball(const ChainView& chain, const LiftedRange& ball,
                                                             const LiftedSample& sample, const SampleCosine& cosine) {
  const EnclosedEntry entry = enclose_entry(chain, pair_of(ball, sample, ball.norm, cosine.rho), false);
  return entry.other.in_units_of(sample.unit) * entry.value;
}

/// A coefficient that carries a rounding.
[[nodiscard]] WIDELIMIT_BOTH inline Interval enclosed_weight(double beta) {
  return beta == 0 ? Interval::of(0) : outward(beta, beta);
}

}  // namespace widelimit
