#pragma once

#include "widelimit/certificate/chain/chain.hpp"
#include "widelimit/certificate/chain/chain_bound.hpp"
#include "widelimit/certificate/convex/expansion.hpp"
#include "widelimit/certificate/interval/ranges.hpp"
#include "widelimit/engine/cones.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// A ball in the lifted input space of the first layer, and the frame of its residuals.
struct LiftedBall {
  std::vector<double> centre, half;       ///< c, and |z_j| ≤ half_j; for an ℓ2 ball also ‖z‖ ≤ radius
  std::vector<double> direction;          ///< c/centre_norm
  std::vector<double> kept, unit, weigh;  ///< centre, direction and half on reduced features
  LiftedRange range;
};

/// A chain and a support: data shared by the enclosures of all balls.
class LiftedSupport {
 public:
  /// Borrows `problem` and `ranges`; `deviations` are the scale exponents of √q after the last layer.
  LiftedSupport(const ChainProblem& problem, const Ranges& ranges, const EntryExponents& deviations);

  [[nodiscard]] ChainView chain() const { return steps_.view(); }
  /// Returns whether values depend on ‖x̃‖; false without biases after the first layer.
  [[nodiscard]] bool biased_later() const { return steps_.biased_later(); }
  [[nodiscard]] const std::vector<LiftedSample>& samples() const { return samples_; }
  /// xᵢ/‖x̃ᵢ‖ with relative error direction_error().
  [[nodiscard]] const ReducedDirections& directions() const { return directions_; }
  [[nodiscard]] double direction_error() const;

  /// O(features).
  [[nodiscard]] LiftedBall lift(const Ball& ball) const;
  /// Encloses the cosine of every sample with a ball, on the host, including rounding. O(samples·features).
  [[nodiscard]] std::vector<SampleCosine> cosines(const LiftedBall& ball) const;
  /// Returns √q of a point after the last layer, in units of 2^unit, for all norms on a ball.
  [[nodiscard]] Interval deviation(const Interval& norm, int unit) const;

 private:
  const ChainProblem& problem_;
  const Ranges& ranges_;
  ChainSteps steps_;
  Interval lift_;  ///< in the units of the points
  std::vector<LiftedSample> samples_;
  ReducedDirections directions_;
};

/// Balls in the representation of an engine that holds the support. Borrows the support.
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
