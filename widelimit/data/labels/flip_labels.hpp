#pragma once

#include "widelimit/base/types.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace widelimit {

/// Noisy labels: each one of 0 … classes − 1 becomes, with probability `share`, one of the others, all equally likely.
/// A pure function of (seed, place): more samples leave the first as they are, and a larger share flips all that a
/// smaller one flips, to the same classes. Error{usage} for a share outside [0, 1] or fewer than two classes,
/// Error{input} for a label that is no class.
[[nodiscard]] std::vector<Index> flip_labels(std::span<const Index> labels, Index classes, double share,
                                             std::uint64_t seed);

}  // namespace widelimit
