#pragma once

#include "widelimit/base/types.hpp"

#include <optional>
#include <span>
#include <utility>

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

}  // namespace widelimit
