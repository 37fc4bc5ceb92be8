#pragma once

#include "widelimit/machine/summary.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

namespace widelimit {

/// How a fit ended, for a record; what does not exist is left out.
[[nodiscard]] nlohmann::ordered_json summary_json(const Summary& summary);
/// The same for reading.
[[nodiscard]] Table summary_table(const Summary& summary);

}  // namespace widelimit
