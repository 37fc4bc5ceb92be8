#include "widelimit/machine/logistic/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr double sufficient = 1e-4;
constexpr double flat = 0.1;
/// Relative rounding error of a sum of nonnegative losses.
constexpr double rounding = 1e-13;
constexpr int most_trials = 60;

}  // namespace

double step_length(const std::function<Slice(double t)>& along) {
  const Slice start = along(0);
  if (!(start.slope < 0)) return 0;
  const double infinity = std::numeric_limits<double>::infinity();
  double low = 0;
  double high = infinity;
  double t = 1;
  for (int trial = 0; trial < most_trials; ++trial) {
    const Slice here = along(t);
    const double allowed = start.value + sufficient * t * start.slope + rounding * std::fabs(start.value);
    const bool fell = here.value <= allowed;  // false for NaN
    if (fell && std::fabs(here.slope) <= flat * -start.slope) return t;
    if (fell && here.slope < 0) {
      low = t;
    } else {
      high = t;
    }
    const double newton = t - here.slope / here.curvature;
    if (high == infinity) {
      t = newton > 2 * t ? std::min(newton, 10 * t) : 2 * t;
    } else {
      const double margin = 0.1 * (high - low);
      t = newton > low + margin && newton < high - margin ? newton : low + 0.5 * (high - low);
    }
  }
  return low;
}

}  // namespace widelimit
