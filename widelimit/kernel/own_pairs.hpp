#pragma once

#include "widelimit/engine/backend.hpp"

#include <span>

namespace widelimit {

/// Writes the pairs (i, i) of a square on the diagonal, which Backend::tile took for two different samples:
/// blocks[s](i, i) = diagonal(s, square.begin + i), as Backend::diagonal gave it. Error{numerical} on overflow.
template <std::floating_point T>
void set_own_pairs(MatrixView<const double> diagonal, Range square, std::span<const MatrixView<T>> blocks);

}  // namespace widelimit
