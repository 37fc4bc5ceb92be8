#pragma once

#include "widelimit/engine/engine.hpp"

#include <string>

namespace widelimit::bench {

/// Kernels of convolutional networks on an engine; `only` one of them, or all where it is empty. False where answers
/// differ from those of the processor.
[[nodiscard]] bool planes(const Engine& engine, const std::string& only, int repeats);

}  // namespace widelimit::bench
