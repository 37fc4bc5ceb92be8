#pragma once

#include "widelimit/engine/engine.hpp"

namespace widelimit::bench {

/// The graph NTK of `count` graphs on an engine, compared with the CPU. Returns false if results differ.
[[nodiscard]] bool graphs(const Engine& engine, Index count, int repeats);

}  // namespace widelimit::bench
