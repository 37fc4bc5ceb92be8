#include "widelimit/analysis/dynamics/convergence_rate.hpp"

#include "widelimit/machine/gram/extremes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Relative rounding error of sums of up to a million losses.
constexpr double objective_rounding = 1e4 * std::numeric_limits<double>::epsilon();
/// Minimum quotient of a denominator and its uncertainty for a ratio to be reported.
constexpr double least_significance = 1e3;

}  // namespace

double objective_curvature(const GramMatrix& k, LossKind kind, double lambda, Progress* progress) {
  const std::optional<double> curvature = largest_curvature(kind);
  return curvature ? lambda + *curvature * std::max(lanczos_extremes(k, progress).largest, 0.0) : lambda;
}

RateCheck check_rate(const Trajectory& trajectory, const RateEnds& ends,
                     const std::function<double(double time)>& bound) {
  RateCheck check{.optimum = ends.optimum};
  const bool needs_optimum =
      std::any_of(trajectory.times.begin(), trajectory.times.end(), [&](double time) { return bound(time) != 1; });
  if (needs_optimum && !ends.optimum) {
    check.note = "the optimum L(β*) is not known";
    return check;
  }
  const double optimum = ends.optimum.value_or(0.0);
  double largest = std::max(std::abs(ends.first), std::abs(optimum));
  for (const double value : trajectory.objective) largest = std::max(largest, std::abs(value));
  const double uncertainty = ends.uncertainty + objective_rounding * largest;
  check.holds = true;
  for (std::size_t k = 0; k < trajectory.times.size(); ++k) {
    const double left = trajectory.objective[k] - optimum;
    const double right = bound(trajectory.times[k]) * (ends.first - optimum);
    if (left > right + uncertainty) check.holds = false;
    // At time 0 the ratio is 1.
    if (trajectory.times[k] == 0 || ends.outside || right <= least_significance * uncertainty) continue;
    if (!check.largest_ratio || left / right > *check.largest_ratio) {
      check.largest_ratio = left / right;
      check.at = trajectory.times[k];
    }
  }
  return check;
}

}  // namespace widelimit
