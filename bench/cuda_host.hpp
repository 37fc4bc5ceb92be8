#pragma once

#include "widelimit/engine/engine.hpp"

namespace widelimit::bench {

/// The NTK of `inputs` from a device into host memory: filled whole and then copied, and tile by tile, as where the
/// device does not hold it. Both must have the same bits.
[[nodiscard]] bool host_gram(const Matrix<double>& inputs, int repeats, const Engine& engine);

}  // namespace widelimit::bench
