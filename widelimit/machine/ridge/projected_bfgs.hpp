#pragma once

#include "widelimit/base/types.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// Value and gradient of an objective at a point.
struct ObjectiveAt {
  double value = 0;
  std::vector<double> gradient;  ///< empty unless requested
};

/// Objective function; returns std::nullopt outside its domain.
using BoxObjective = std::function<std::optional<ObjectiveAt>(std::span<const double> x, bool gradient)>;

struct BfgsOptions {
  std::vector<double> lower;
  std::vector<double> upper;
  double tolerance = 1e-6;  ///< on the largest entry of the projected gradient
  Index max_iterations = 100;
  double longest_step = 2;  ///< largest change of a variable in one iteration
};

/// Result of a minimisation.
struct BoxMinimum {
  std::vector<double> x;
  double first_value = 0;  ///< objective at the start
  double value = 0;
  std::vector<double> gradient;
  /// Largest |gradient| over the free variables; variables at an active bound are excluded.
  double projected_gradient = 0;
  Index iterations = 0;
  bool converged = false;
  bool stalled = false;  ///< no step decreased the objective: rounding, or the boundary of its domain
};

/// Finds a local minimum of a smooth function of few variables subject to bounds, by projected quasi-Newton steps
/// (Bertsekas 1982) with BFGS updates over the free variables and an Armijo line search along the projected path.
/// Points outside the domain count as +∞. Returns std::nullopt if the start, projected onto the bounds, is outside the
/// domain.
[[nodiscard]] std::optional<BoxMinimum> minimise_in_box(const BoxObjective& objective, std::span<const double> start,
                                                        const BfgsOptions& options);

}  // namespace widelimit
