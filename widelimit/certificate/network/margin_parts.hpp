#pragma once

#include "widelimit/certificate/class_differences.hpp"
#include "widelimit/certificate/network/first_layer.hpp"

#include <functional>
#include <optional>

namespace widelimit {

/// Margins of some balls, whose points have these labels.
using MarginPart = std::function<MarginBounds(std::span<const Ball> balls, std::span<const Index> labels)>;

/// Points whose first layers fit in memory together. `first`: the stage that FirstLayer begins with, if any.
[[nodiscard]] Index kept_points(const Architecture& architecture, std::optional<std::size_t> first);

/// Margins of any number of balls by parts, each on one thread: parts are small where only vectors follow the first
/// layer, so that a ball stays in the caches from layer to layer, and large where matrices follow, which are taken to
/// float64 again for each part. `labels` is by point.
[[nodiscard]] MarginBounds margins_by_parts(const Architecture& architecture, std::optional<std::size_t> first,
                                            std::span<const Ball> balls, std::span<const Index> labels, int threads,
                                            const MarginPart& part);

}  // namespace widelimit
