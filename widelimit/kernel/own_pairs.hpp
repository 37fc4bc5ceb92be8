#pragma once

#include "widelimit/engine/engine.hpp"

#include <span>

namespace widelimit {

/// Writes the pairs (i, i) of a square on the diagonal, which Engine::tile took for two different samples:
/// blocks[s](i, i) = diagonal(s, square.begin + i), as Engine::diagonal gave it. Error{numerical} on overflow.
template <std::floating_point T>
void set_own_pairs(MatrixView<const double> diagonal, Range square, std::span<const MatrixView<T>> blocks);

}  // namespace widelimit
