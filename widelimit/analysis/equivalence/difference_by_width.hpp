#pragma once

#include "widelimit/analysis/equivalence/equivalence.hpp"

namespace widelimit {

/// Means, slopes and straightness of the runs of an equivalence, those that diverged left out. Every network is a point
/// of its line: seeds of one width show how much chance there is in it.
void summarise_by_width(Equivalence& result, const std::vector<Index>& widths, bool parts);

}  // namespace widelimit
