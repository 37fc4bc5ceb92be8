#pragma once

#include <functional>

namespace widelimit {

/// A convex function of one variable where one looks at it.
struct Slice {
  double value = 0;
  double slope = 0;
  double curvature = 0;
};

/// A step t > 0 along which the function falls by at least 1e-4·t·|slope at 0|, up to rounding, and whose end has at
/// most a tenth of that slope: such steps make Newton's method converge from any start (Nocedal & Wright 2006, Thm 3.2)
/// and leave t = 1 alone near the minimum. Steps above 1 are taken where they help, as they do on separable data, whose
/// margins must grow. 0 where there is none: the direction does not descend, or rounding hides it.
[[nodiscard]] double step_length(const std::function<Slice(double t)>& along);

}  // namespace widelimit
