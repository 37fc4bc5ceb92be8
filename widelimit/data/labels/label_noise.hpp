#pragma once

#include "widelimit/base/matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace widelimit {

/// Transition matrices of label noise: entry (c, d) is the probability that a label c becomes d.

/// A label becomes, with probability `share`, one of the other classes, all equally likely. Error{usage} for a share
/// outside [0, 1] or fewer than two classes; of pair_noise, too.
[[nodiscard]] Matrix<double> symmetric_noise(Index classes, double share);
/// A label becomes, with probability `share`, the next class, the last one the first: confusions that favour one class.
[[nodiscard]] Matrix<double> pair_noise(Index classes, double share);

/// Each label drawn from its row of `transition`; a pure function of (seed, place). Error{usage} unless the matrix is
/// square, its entries are not negative and each row sums to 1; Error{input} for a label that is no class.
[[nodiscard]] std::vector<Index> noisy_labels(std::span<const Index> labels, MatrixView<const double> transition,
                                              std::uint64_t seed);

/// Shares of the labels c that have become d; a row of zeros for a class without labels.
[[nodiscard]] Matrix<double> observed_transition(std::span<const Index> labels, std::span<const Index> noisy,
                                                 Index classes);

}  // namespace widelimit
