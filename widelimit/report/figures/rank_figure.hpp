#pragma once

#include "widelimit/analysis/rank_comparison.hpp"
#include "widelimit/report/html.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Critical-difference diagram (Demšar 2006, Figure 1): every classifier at its average rank, the best on the left;
/// thick lines join those that do not differ significantly. Error{usage} unless there is a name for each rank.
[[nodiscard]] Illustration critical_difference_diagram(const std::vector<std::string>& names,
                                                       const RankComparison& found);

}  // namespace widelimit
