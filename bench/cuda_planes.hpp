#pragma once

#include "widelimit/engine/engine.hpp"

#include <string>

namespace widelimit::bench {

/// Kernels of convolutional networks on an engine; `only` one of them, or all if it is empty. Returns false if results
/// differ from those of the CPU.
[[nodiscard]] bool planes(const Engine& engine, const std::string& only, int repeats);

}  // namespace widelimit::bench
