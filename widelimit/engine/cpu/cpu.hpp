#pragma once

#include "widelimit/engine/backend.hpp"

#include <memory>

namespace widelimit {

/// BLAS, vector instructions chosen at run time, OpenMP threads (0: one per processor this process may use).
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(int threads);

}  // namespace widelimit
