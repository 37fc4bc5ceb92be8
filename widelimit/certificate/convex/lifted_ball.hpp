#pragma once

#include "widelimit/certificate/chain/chain_bound.hpp"
#include "widelimit/certificate/chain/chain_enclosure.hpp"
#include "widelimit/certificate/interval/ranges.hpp"

#include <vector>

namespace widelimit {

/// A sample of the support beside a ball, with ρ the cosine of x̃ and x̃ᵢ.
struct SampleCosine {
  Interval norm;  ///< ‖x̃ᵢ‖, in units of 2^exponent
  int exponent = 0;
  bool has_cosine = false;  ///< false: x̃ or x̃ᵢ may be 0, and nothing is known of ρ
  Interval rho{-1, 1};      ///< ρ on the ball; holds ρ₀
  Interval start{-1, 1};    ///< ρ₀, at the centre
  double reach = 0;  ///< of e = ⟨x̃,x̃ᵢ⟩/‖x̃ᵢ‖ − ρ₀‖x̃‖: |e| is no larger, and ρ − ρ₀ = e/‖x̃‖
};

/// A ball as the first layer sees it, about the centre c of the box that surrounds ball ∩ box (of an ℓ2 ball the point
/// itself), z = x − c:  ‖x̃‖ = ‖c̃‖ + ⟨c,z⟩/‖c̃‖ + v with 0 ≤ v ≤ bulge. Lengths are in units of 2^exponent.
struct LiftedBall {
  std::vector<double> centre, half;  ///< c, and |z_j| ≤ half_j; of an ℓ2 ball ‖z‖ ≤ radius besides
  double radius = 0;
  int exponent = 0;
  double step = 0;   ///< ‖z‖ is no larger
  Interval start;    ///< ‖c̃‖
  Interval norm;     ///< ‖x̃‖; holds the start
  double bulge = 0;  ///< ‖z‖²/(2‖c̃‖) at the most
  std::vector<SampleCosine> samples;

  /// x̃ with a norm and a cosine of the ball beside a sample of it.
  [[nodiscard]] LiftedPair pair(const SampleCosine& sample, const Interval& norm_of_x, const Interval& rho) const {
    return {norm_of_x, sample.norm, rho, exponent, sample.exponent};
  }
};

/// O(samples·features), rounding counted in.
[[nodiscard]] LiftedBall lift_ball(const ChainProblem& problem, const Ranges& ranges, const Ball& ball);

}  // namespace widelimit
