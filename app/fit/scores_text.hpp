#pragma once

#include "widelimit/report/scores.hpp"

#include <string>
#include <vector>

namespace widelimit::app {

/// Formats scores for the terminal. For classes: all scores with a row per part, then a row per class of the last part,
/// unless there are too many; for numbers one line per part. The last lines list undefined scores with the reason.
[[nodiscard]] std::string scores_text(const std::vector<NamedScore>& parts, const std::vector<std::string>& classes);

}  // namespace widelimit::app
