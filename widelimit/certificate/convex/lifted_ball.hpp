#pragma once

#include "widelimit/certificate/chain/chain_bound.hpp"
#include "widelimit/certificate/chain/chain_steps.hpp"
#include "widelimit/certificate/convex/expansion.hpp"
#include "widelimit/certificate/interval/ranges.hpp"
#include "widelimit/engine/cones.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// A ball as the first layer sees it, and the frame of its residuals.
struct LiftedBall {
  std::vector<double> centre, half;       ///< c, and |z_j| ≤ half_j; of an ℓ2 ball ‖z‖ ≤ radius besides
  std::vector<double> direction;          ///< c/centre_norm
  std::vector<double> kept, unit, weigh;  ///< centre, direction and half on reduced features
  LiftedRange range;
};

/// A chain beside a support: what enclosures of all balls share.
class LiftedSupport {
 public:
  /// Borrows problem and ranges; `deviations` are the units of √q after the last layer.
  LiftedSupport(const ChainProblem& problem, const Ranges& ranges, const EntryExponents& deviations);

  [[nodiscard]] ChainView chain() const { return steps_.view(); }
  /// Whether values depend on ‖x̃‖: not without biases after the first layer.
  [[nodiscard]] bool biased_later() const { return steps_.biased_later(); }
  [[nodiscard]] const std::vector<LiftedSample>& samples() const { return samples_; }
  /// xᵢ/‖x̃ᵢ‖, right to direction_error() of themselves.
  [[nodiscard]] const ReducedDirections& directions() const { return directions_; }
  [[nodiscard]] double direction_error() const;

  /// O(features).
  [[nodiscard]] LiftedBall lift(const Ball& ball) const;
  /// Every sample beside a ball, on the host.  O(samples·features), rounding counted in.
  [[nodiscard]] std::vector<SampleCosine> cosines(const LiftedBall& ball) const;
  /// √q of a point after the last layer, over its norms on a ball, in units of 2^unit.
  [[nodiscard]] Interval deviation(const Interval& norm, int unit) const;

 private:
  const ChainProblem& problem_;
  const Ranges& ranges_;
  ChainSteps steps_;
  Interval lift_;  ///< in the units of points
  std::vector<LiftedSample> samples_;
  ReducedDirections directions_;
};

/// Balls as an engine that holds the support takes them. Borrows the support.
class HeldBalls {
 public:
  HeldBalls(const LiftedSupport& support, bool euclidean, std::span<const LiftedBall> balls);
  [[nodiscard]] ChainBalls view() const;

 private:
  const LiftedSupport& support_;
  bool euclidean_;
  std::vector<LiftedRange> ranges_;
  Matrix<double> centre_, unit_, half_;
};

}  // namespace widelimit
