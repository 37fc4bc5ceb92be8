#pragma once

#include "widelimit/analysis/bounds/bound_row.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// "0.5295", or "1.28 (vacuous)" from `range` on; a dash for nothing.
[[nodiscard]] std::string bound_text(std::optional<double> value, double range = 1);

/// A row for each bound row; columns that no row has are left out.
[[nodiscard]] Table bound_table(const std::vector<BoundRow>& rows);
[[nodiscard]] nlohmann::ordered_json bound_json(const BoundRow& row);

/// Measured error and bounds by the number of samples, a figure for each kind of labels and machine; of one number of
/// samples the parts of each bound as bars.
[[nodiscard]] std::vector<Illustration> bound_figures(const std::vector<BoundRow>& rows);

}  // namespace widelimit
