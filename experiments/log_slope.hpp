#pragma once

#include "widelimit/analysis/equivalence/line_fit.hpp"

#include <optional>
#include <span>

namespace widelimit::experiment {

/// The line of log y against log x by least squares; nothing where there is none.
[[nodiscard]] std::optional<LineFit> log_line(std::span<const double> x, std::span<const double> y);
/// Its slope; 0 where there is none.
[[nodiscard]] double log_slope(std::span<const double> x, std::span<const double> y);

}  // namespace widelimit::experiment
