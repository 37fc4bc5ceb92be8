#pragma once

#include "widelimit/analysis/equivalence/line_fit.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <span>

namespace widelimit::experiment {

/// Fits log y against log x by least squares; returns std::nullopt if the fit is undefined.
[[nodiscard]] std::optional<LineFit> log_line(std::span<const double> x, std::span<const double> y);
/// Returns the slope of that fit, or 0 if it is undefined.
[[nodiscard]] double log_slope(std::span<const double> x, std::span<const double> y);

/// Writes "slope" and "interval" to a record; writes nothing without a fit.
void write_slope(nlohmann::ordered_json& json, const std::optional<LineFit>& fit);

}  // namespace widelimit::experiment
