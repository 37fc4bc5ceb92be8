#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/certificate/search/point_search.hpp"

namespace widelimit {

/// The search of one point with bounds whose work is done once for a ball and serves all smaller ones, the better the
/// nearer their radii are (LowerBound::within): a few large balls, and many radii within each. It ends where a power of
/// 1 + tolerance holds and the next does not by the bound of its own ball; three to five balls.
///
/// The functional of the least value goes first; the others are asked whether they hold as far, by one ball for all of
/// them, and searched only where they do not. Returns the place found, or none. `progress` is asked before each ball
/// whether to go on.
[[nodiscard]] Index nested_search(const LowerBound& bound, const RadiusGrid& grid, const SearchRange& range,
                                  Index first_functional, std::span<const double> values, Index point,
                                  Progress* progress = nullptr);

}  // namespace widelimit
