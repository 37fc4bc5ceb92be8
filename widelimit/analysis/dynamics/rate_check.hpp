#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"

#include <functional>

namespace widelimit {

/// Initial and optimal objective of a convergence rate.
struct RateEnds {
  double first = 0;               ///< L(β₀)
  std::optional<double> optimum;  ///< L(β*); not needed if the bound is always 1
  double uncertainty = 0;         ///< of the objectives, in addition to rounding
  bool outside = false;           ///< the start has a part outside the span, whose contribution to L cancels in the
                                  ///< inequality
};

/// Checks L(β_t) − L(β*) ≤ bound(t)·(L(β₀) − L(β*)) at all recorded times. For a start outside the span, λ/2‖h‖²
/// appears on both sides with the factor e^{−2λt} and is omitted; the ratio is then unknown.
[[nodiscard]] RateCheck check_rate(const Trajectory& trajectory, const RateEnds& ends,
                                   const std::function<double(double time)>& bound);

}  // namespace widelimit
