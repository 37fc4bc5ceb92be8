#pragma once

#include "widelimit/base/types.hpp"

#include <optional>
#include <span>
#include <utility>

namespace widelimit {

/// y ≈ intercept + slope·x by least squares.
struct LineFit {
  double slope = 0;
  double intercept = 0;
  /// The slope with 95 % confidence, by Student's t with points − 2 degrees of freedom; nothing for two points, which
  /// any line meets.
  std::optional<std::pair<double, double>> interval;
  Index points = 0;
};

/// Nothing where there are not two different x, or a number is not finite. Error{usage} where x and y differ in number.
[[nodiscard]] std::optional<LineFit> fit_line(std::span<const double> x, std::span<const double> y);

}  // namespace widelimit
