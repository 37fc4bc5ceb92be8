#pragma once

#include <span>

namespace widelimit::experiment {

/// Slope of the least-squares line of log y against log x, both positive: the order p of y ∼ xᵖ. 0 for fewer than two
/// different x.
[[nodiscard]] double log_slope(std::span<const double> x, std::span<const double> y);

}  // namespace widelimit::experiment
