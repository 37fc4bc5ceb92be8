#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>

namespace widelimit::test {

/// Returns the engine `cpu` with its matrices in pages without access rights between two calls. Code that bypasses the
/// interface of the engine ends with a segmentation fault; on a device it would read invalid data.
[[nodiscard]] std::unique_ptr<Engine> make_opaque_engine(int threads = 2);

}  // namespace widelimit::test
