#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <functional>

namespace widelimit {

/// Threads for `requested`: itself, or one per processor this process may use where it is 0. Error{usage} below 0.
[[nodiscard]] int team_size(int requested);

/// Runs body(task) for task = 0 … count−1 on `threads` threads, in any order. `after`, where given, is called on the
/// calling thread with the number of finished tasks: after each task of that thread, from time to time while it waits
/// for the others, and at the end. It stops the loop by throwing. Where bodies throw, the exception of the lowest such
/// task is rethrown and tasks not yet started are skipped. Each ends in an interruption_point().
void parallel_for(Index count, int threads, const std::function<void(Index task)>& body,
                  const std::function<void(Index done)>& after = {});

}  // namespace widelimit
