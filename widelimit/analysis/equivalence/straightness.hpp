#pragma once

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// The slope between the means of y at two neighbouring x.
struct LocalSlope {
  double from = 0;
  double to = 0;
  double slope = 0;
  /// Standard error, by the scatter of y at either x; nothing where one of them has a single y.
  std::optional<double> error;
};

/// Slopes from each different x to the next larger one: what one line through all of them would hide. Empty for fewer
/// than two different x. Error{usage} where x and y differ in number.  O(n log n).
[[nodiscard]] std::vector<LocalSlope> local_slopes(std::span<const double> x, std::span<const double> y);

/// Whether one line is enough: the probability that the means of y lie as far from the line of least squares as they
/// do by chance alone, chance being the scatter of y at equal x (the F test of lack of fit). Nothing without three
/// different x, or where no x has two y. Error{usage} where x and y differ in number.
[[nodiscard]] std::optional<double> lack_of_fit(std::span<const double> x, std::span<const double> y);

}  // namespace widelimit
