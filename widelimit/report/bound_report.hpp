#pragma once

#include "widelimit/analysis/bounds/bound_row.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Formats a bound: "0.5295", or "1.28 (vacuous)" if it is at least `range`; a dash if absent.
[[nodiscard]] std::string bound_text(std::optional<double> value, double range = 1);

/// Returns one row per bound row; columns without any value are omitted.
[[nodiscard]] Table bound_table(const std::vector<BoundRow>& rows);
[[nodiscard]] nlohmann::ordered_json bound_json(const BoundRow& row);

/// Plots measured error and bounds by the number of samples, one figure per kind of labels and machine; for a single
/// number of samples, plots the terms of each bound as bars.
[[nodiscard]] std::vector<Illustration> bound_figures(const std::vector<BoundRow>& rows);

}  // namespace widelimit
