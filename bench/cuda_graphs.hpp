#pragma once

#include "widelimit/engine/engine.hpp"

namespace widelimit::bench {

/// The graph NTK of `count` graphs on an engine, beside the processor's. False where answers differ.
[[nodiscard]] bool graphs(const Engine& engine, Index count, int repeats);

}  // namespace widelimit::bench
