#pragma once

#include "widelimit/analysis/comparison/compare.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace widelimit {

/// A row for each kernel, the best first: its choice, held-out error, p, verdict and seconds.
[[nodiscard]] Table comparison_table(const Comparison& comparison);
/// The same for pages, where it is sorted: with places, and numbers as numbers.
[[nodiscard]] Table comparison_ranking(const Comparison& comparison);
/// The same for files, with numbers in full, and why a kernel has no result.
[[nodiscard]] Table comparison_rows(const Comparison& comparison);
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison);

/// Who is best, who ties with it and who is worse.
[[nodiscard]] std::vector<std::string> comparison_sentences(const Comparison& comparison);

/// Held-out errors with their intervals, the best on top, and test errors beside them.
[[nodiscard]] Illustration comparison_bars(const Comparison& comparison);

}  // namespace widelimit
