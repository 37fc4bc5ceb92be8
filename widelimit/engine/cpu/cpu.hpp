#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>

namespace widelimit {

/// Engine with BLAS, run-time dispatch of vector instructions and OpenMP threads (0: one per available processor).
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(int threads);

}  // namespace widelimit
