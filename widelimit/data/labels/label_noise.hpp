#pragma once

#include "widelimit/base/matrix.hpp"

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

// Transition matrices of label noise: entry (c, d) is the probability that label c becomes d.

/// Symmetric noise: with probability `share`, a label becomes one of the other classes, chosen uniformly. Throws
/// Error{usage} if the share is outside [0, 1] or there are fewer than two classes, as does pair_noise.
[[nodiscard]] Matrix<double> symmetric_noise(Index classes, double share);
/// Pair noise: with probability `share`, a label becomes the next class, cyclically.
[[nodiscard]] Matrix<double> pair_noise(Index classes, double share);

/// Draws each label from its row of `transition`; a pure function of (seed, position). Throws Error{usage} unless the
/// matrix is square and nonnegative and each row sums to 1; Error{input} if a label is out of range.
[[nodiscard]] std::vector<Index> noisy_labels(std::span<const Index> labels, MatrixView<const double> transition,
                                              std::uint64_t seed);

/// Returns the observed fractions of labels c that became d; a row of zeros for a class without labels.
[[nodiscard]] Matrix<double> observed_transition(std::span<const Index> labels, std::span<const Index> noisy,
                                                 Index classes);

}  // namespace widelimit
