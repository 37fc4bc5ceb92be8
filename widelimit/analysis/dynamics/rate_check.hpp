#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"

#include <functional>

namespace widelimit {

/// The two ends of a convergence rate.
struct RateEnds {
  double first = 0;               ///< L(β₀)
  std::optional<double> optimum;  ///< L(β*); not needed where the bound stays 1
  double uncertainty = 0;         ///< of the objectives, beyond their rounding
  bool outside = false;           ///< the start lies outside the span: L lacks a part that cancels in the inequality
};

/// L(β_t) − L(β*) ≤ bound(t)·(L(β₀) − L(β*)) at all recorded moments. λ/2‖h‖² of a start outside the span stands on
/// both sides with the factor e^{−2λt}, so the inequality is checked without it; only its ratio is not known then.
[[nodiscard]] RateCheck check_rate(const Trajectory& trajectory, const RateEnds& ends,
                                   const std::function<double(double time)>& bound);

}  // namespace widelimit
