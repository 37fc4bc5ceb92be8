#pragma once

#include "widelimit/base/types.hpp"

#include <functional>

namespace widelimit::cpu {

/// task(0) … task(count−1) on `threads` OpenMP threads, in any order. The first exception stops the rest and is
/// rethrown here. `poll`, where given, runs on the calling thread between its tasks.
void parallel_for(Index count, int threads, const std::function<void(Index)>& task,
                  const std::function<void()>& poll = {});

/// Processors this process may use.
[[nodiscard]] int available_threads();

}  // namespace widelimit::cpu
