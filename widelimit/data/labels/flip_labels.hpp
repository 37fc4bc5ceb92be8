#pragma once

#include "widelimit/base/types.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace widelimit {

/// Applies uniform label noise: with probability `share`, a label of 0 … classes − 1 is replaced by one of the others,
/// chosen uniformly. A pure function of (seed, position): more samples leave the first ones unchanged, and a larger
/// share flips a superset, to the same classes. Throws Error{usage} if the share is outside [0, 1] or there are fewer
/// than two classes, Error{input} if a label is out of range.
[[nodiscard]] std::vector<Index> flip_labels(std::span<const Index> labels, Index classes, double share,
                                             std::uint64_t seed);

}  // namespace widelimit
