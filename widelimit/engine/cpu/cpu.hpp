#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>

namespace widelimit {

/// BLAS, vector instructions chosen at run time, OpenMP threads (0: one per processor this process may use).
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(int threads);

}  // namespace widelimit
