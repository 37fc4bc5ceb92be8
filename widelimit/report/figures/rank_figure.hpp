#pragma once

#include "widelimit/analysis/rank_comparison.hpp"
#include "widelimit/report/html.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Draws a critical-difference diagram (Demšar 2006, Figure 1): every classifier at its average rank, best on the left;
/// thick lines connect groups without significant differences. Throws Error{usage} unless there is one name per rank.
[[nodiscard]] Illustration critical_difference_diagram(const std::vector<std::string>& names,
                                                       const RankComparison& found);

}  // namespace widelimit
