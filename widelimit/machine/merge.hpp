#pragma once

#include "widelimit/machine/summary.hpp"

#include <span>

namespace widelimit {

/// One Summary for problems solved side by side: objectives, iterations and memory added, the largest gap, and the
/// ending and message of the worst. An objective that one of them lacks, the whole lacks.
[[nodiscard]] Summary merged(std::span<const Summary> parts);

}  // namespace widelimit
