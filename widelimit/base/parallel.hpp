#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <functional>

namespace widelimit {

/// Returns the number of threads: `requested`, or one per available processor if it is 0; at most the OpenMP thread
/// limit. Throws Error{usage} if it is negative.
[[nodiscard]] int team_size(int requested);

/// Runs body(task) for task = 0 … count−1 on `threads` threads, in any order. `after`, if given, is called on the
/// calling thread with the number of finished tasks: after each task of that thread, periodically while it waits for
/// the other threads, and at the end; it stops the loop by throwing. If bodies throw, tasks not yet started are skipped
/// and the exception of the lowest failed task is rethrown. Each task ends with an interruption_point().
void parallel_for(Index count, int threads, const std::function<void(Index task)>& body,
                  const std::function<void(Index done)>& after = {});

}  // namespace widelimit
