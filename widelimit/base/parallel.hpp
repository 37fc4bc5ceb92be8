#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <chrono>
#include <functional>
#include <string_view>

namespace widelimit {

/// Threads for `requested`: itself, or one per processor this process may use where it is 0. Error{usage} below 0.
[[nodiscard]] int team_size(int requested);

/// Reports to a Progress a few times a second at most; does nothing where there is none.
class Pulse {
 public:
  Pulse(Progress* progress, std::int64_t total, std::string_view unit)
      : progress_(progress), total_(total), unit_(unit) {}
  /// Throws Error{interrupted} where the progress asks to stop. The last unit is always reported.
  void at(std::int64_t done);

 private:
  Progress* progress_;
  std::int64_t total_;
  std::string_view unit_;
  std::chrono::steady_clock::time_point next_{};
};

/// Runs body(task) for task = 0 … count−1 on `threads` threads, in any order. `after`, where given, is called on the
/// calling thread with the number of finished tasks: after each task of that thread, from time to time while it waits
/// for the others, and at the end. It stops the loop by throwing. Where bodies throw, the exception of the lowest such
/// task is rethrown and tasks not yet started are skipped.
void parallel_for(Index count, int threads, const std::function<void(Index task)>& body,
                  const std::function<void(Index done)>& after = {});

}  // namespace widelimit
