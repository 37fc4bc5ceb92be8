#pragma once

#include "widelimit/machine/summary.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

namespace widelimit {

/// Returns the summary of a fit for a record; absent values are omitted.
[[nodiscard]] nlohmann::ordered_json summary_json(const Summary& summary);
/// Returns the same as a table.
[[nodiscard]] Table summary_table(const Summary& summary);

}  // namespace widelimit
