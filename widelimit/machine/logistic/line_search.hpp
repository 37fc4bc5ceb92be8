#pragma once

#include <functional>

namespace widelimit {

/// Value and derivatives of a convex function of one variable at a point.
struct Slice {
  double value = 0;
  double slope = 0;
  double curvature = 0;
};

/// Returns a step size t > 0 with a decrease of at least 1e-4·t·|slope at 0|, up to rounding, and a final slope of at
/// most a tenth of the initial one (Wolfe conditions): Newton's method then converges from any start (Nocedal & Wright
/// 2006, Thm 3.2), and t = 1 is accepted near the minimum. Steps above 1 are tried if they help, as on separable data,
/// whose margins must grow. Returns 0 if there is none: not a descent direction, or the decrease is below rounding.
[[nodiscard]] double step_length(const std::function<Slice(double t)>& along);

}  // namespace widelimit
