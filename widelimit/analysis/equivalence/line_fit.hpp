#pragma once

#include "widelimit/base/types.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace widelimit {

/// Least-squares line y ≈ intercept + slope·x.
struct LineFit {
  double slope = 0;
  double intercept = 0;
  /// 95 % confidence interval of the slope, Student's t with points − 2 degrees of freedom; empty for two points.
  std::optional<std::pair<double, double>> interval;
  Index points = 0;
};

/// Fits a line; std::nullopt if x has fewer than two distinct values or a number is not finite. Throws Error{usage} if
/// the lengths differ.
[[nodiscard]] std::optional<LineFit> fit_line(std::span<const double> x, std::span<const double> y);

/// Slope between the means of y at two adjacent x.
struct LocalSlope {
  double from = 0;
  double to = 0;
  double slope = 0;
  /// Standard error from the scatter of y at both x; empty if one of them has a single y.
  std::optional<double> error;
};

/// Returns the slopes between adjacent distinct x; empty for fewer than two. Throws Error{usage} if the lengths differ.
/// O(n log n).
[[nodiscard]] std::vector<LocalSlope> local_slopes(std::span<const double> x, std::span<const double> y);

/// Returns the p-value of the F test of lack of fit of the least-squares line, relative to the scatter of y at equal x;
/// std::nullopt without three distinct x, or if no x has two y. Throws Error{usage} if the lengths differ.
[[nodiscard]] std::optional<double> lack_of_fit(std::span<const double> x, std::span<const double> y);

}  // namespace widelimit
