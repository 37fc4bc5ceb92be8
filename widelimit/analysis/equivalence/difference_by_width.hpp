#pragma once

#include "widelimit/analysis/equivalence/equivalence.hpp"

namespace widelimit {

/// Computes means, slopes and straightness over the runs, except those that diverged. Every run is one point of the
/// line fit, so that seeds of one width show the random variation.
void summarise_by_width(Equivalence& result, const std::vector<Index>& widths, bool parts);

}  // namespace widelimit
