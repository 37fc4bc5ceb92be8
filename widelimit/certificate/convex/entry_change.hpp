#pragma once

#include "widelimit/certificate/chain/chain_enclosure.hpp"
#include "widelimit/certificate/convex/lifted_ball.hpp"

namespace widelimit {

/// How the value of an entry (EnclosedEntry) changes from the centre c to any x of a ball, Δ for what is at x less what
/// is at c:
///   Δvalue = (slope + curvature·Δρ)·Δρ + by_norm·Δ(log ‖x̃‖), each number somewhere in its interval.
struct EntryChange {
  Deviation other;    ///< the factor of the sample
  Interval start;     ///< value at c
  Interval anywhere;  ///< value on the ball
  Interval slope, curvature, by_norm;
  bool sloped = false;  ///< else only `anywhere` is known
};

/// First ρ changes and then ‖x̃‖. `biased` says whether values depend on ‖x̃‖: not without biases after the first layer.
[[nodiscard]] EntryChange enclose_change(const Chain& chain, Kind kind, bool biased, const LiftedBall& ball,
                                         const TurnedSample& sample);

}  // namespace widelimit
