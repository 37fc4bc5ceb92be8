#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>

namespace widelimit::test {

/// The cpu engine with matrices in pages that are inaccessible between two calls of the engine. Code that bypasses the
/// seam, which on a device would read garbage, ends with a segmentation fault.
[[nodiscard]] std::unique_ptr<Engine> make_opaque_engine(int threads = 2);

}  // namespace widelimit::test
