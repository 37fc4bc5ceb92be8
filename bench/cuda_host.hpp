#pragma once

#include "widelimit/engine/engine.hpp"

namespace widelimit::bench {

/// Computes the NTK of `inputs` on a device into host memory: filled as a whole and then copied, and tile by tile, as
/// if it did not fit into device memory. Both must have the same bits.
[[nodiscard]] bool host_gram(const Matrix<double>& inputs, int repeats, const Engine& engine);

}  // namespace widelimit::bench
