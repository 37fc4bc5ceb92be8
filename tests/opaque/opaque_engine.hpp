#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>

namespace widelimit::test {

/// The processor behind a wall: matrices lie in pages that nobody may touch between two calls of the engine. What
/// reaches around the seam ends by a segmentation fault, as it would read rubbish from a device.
[[nodiscard]] std::unique_ptr<Engine> make_opaque_engine(int threads = 2);

}  // namespace widelimit::test
