#pragma once

#include "widelimit/analysis/comparison/compare.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace widelimit {

/// Returns one row per kernel, best first: its choice, held-out error, p-value, verdict and seconds.
[[nodiscard]] Table comparison_table(const Comparison& comparison);
/// The same as a sortable table for pages: with places, and numbers as numeric cells.
[[nodiscard]] Table comparison_ranking(const Comparison& comparison);
/// The same for files: with full precision, and the error message of failed kernels.
[[nodiscard]] Table comparison_rows(const Comparison& comparison);
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison);

/// Returns sentences: the best kernel, those tied with it and those that are worse.
[[nodiscard]] std::vector<std::string> comparison_sentences(const Comparison& comparison);

/// Plots held-out errors with confidence intervals, best on top, and test errors.
[[nodiscard]] Illustration comparison_bars(const Comparison& comparison);

}  // namespace widelimit
