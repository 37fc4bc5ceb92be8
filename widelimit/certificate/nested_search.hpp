#pragma once

#include "widelimit/certificate/point_search.hpp"

namespace widelimit {

/// The search of one point with bounds whose work is done once for a ball and serves all smaller ones, the better the
/// nearer their radii are (LowerBound::within): a few large balls, and many radii within each.
///
/// It ends where a ball that is larger than the radius found by no more than a two-hundredth, or by one power of
/// 1 + tolerance where that is more, is not certified by its own bound. About three balls.
[[nodiscard]] double nested_search(const LowerBound& bound, const RadiusGrid& grid, const SearchRange& range,
                                   Index first_functional, std::span<const double> values, Index point);

}  // namespace widelimit
