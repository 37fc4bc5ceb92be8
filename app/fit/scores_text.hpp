#pragma once

#include "widelimit/report/scores.hpp"

#include <string>
#include <vector>

namespace widelimit::app {

/// Scores for reading. Of classes: all scores, a row for each part, then each class of the last part, unless they are
/// many; of numbers one line says everything. At the end what is undefined, and why.
[[nodiscard]] std::string scores_text(const std::vector<NamedScore>& parts, const std::vector<std::string>& classes);

}  // namespace widelimit::app
