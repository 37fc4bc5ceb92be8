#pragma once

#include "widelimit/base/types.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// A function of a few variables at a point.
struct ObjectiveAt {
  double value = 0;
  std::vector<double> gradient;  ///< where it was asked for
};

/// The function where it is defined, else nothing.
using BoxObjective = std::function<std::optional<ObjectiveAt>(std::span<const double> x, bool gradient)>;

struct BfgsOptions {
  std::vector<double> lower;
  std::vector<double> upper;
  double tolerance = 1e-6;  ///< of the largest entry of the projected gradient
  Index most_iterations = 100;
  double longest_step = 2;  ///< of a variable in one iteration
};

/// Where a search ended.
struct BoxMinimum {
  std::vector<double> x;
  double first_value = 0;  ///< at the start
  double value = 0;
  std::vector<double> gradient;
  /// Largest |gradient| of a variable that may move: one at a bound that the function pushes against does not count.
  double projected_gradient = 0;
  Index iterations = 0;
  bool converged = false;
  bool stalled = false;  ///< no step made the function smaller: its rounding, or the edge of where it is defined
};

/// A local minimum of a smooth function within bounds, for few variables: projected quasi-Newton steps (Bertsekas 1982)
/// with the BFGS formula over the variables that are free, and Armijo's line search along the projected path. A point
/// where the function is not defined counts as infinitely high. Nothing where the start, moved within the bounds, is
/// such a point.
[[nodiscard]] std::optional<BoxMinimum> minimise_in_box(const BoxObjective& objective, std::span<const double> start,
                                                        const BfgsOptions& options);

}  // namespace widelimit
