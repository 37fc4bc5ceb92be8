#include "widelimit/base/parallel.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/workers.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>

namespace widelimit {

int team_size(int requested) {
  if (requested < 0) fail(Code::usage, "threads = {} is negative; give 0 for one thread per processor", requested);
  return std::min(requested > 0 ? requested : omp_get_num_procs(), omp_get_thread_limit());
}

void parallel_for(Index count, int threads, const std::function<void(Index task)>& body,
                  const std::function<void(Index done)>& after) {
  std::atomic<Index> next{0};
  std::atomic<Index> done{0};
  std::mutex guard;
  std::condition_variable ended;
  int working = 0;
  std::exception_ptr failure;
  Index failed_task = std::numeric_limits<Index>::max();

  const auto keep_failure = [&](Index task) {
    const std::lock_guard lock(guard);
    if (!failure || task < failed_task) {
      failed_task = task;
      failure = std::current_exception();
    }
    next = count;
  };
  const auto work = [&](bool calling_thread) {
    for (Index task = next++; task < count; task = next++) {
      try {
        body(task);
        ++done;
        if (calling_thread && after) after(done);
        interruption_point();
      } catch (...) {
        keep_failure(task);
      }
    }
  };
  // The calling thread keeps polling for a stop while it waits.
  const auto wait_for_others = [&] {
    std::unique_lock lock(guard);
    while (working > 0 && !failure) {
      if (ended.wait_for(lock, progress_interval, [&] { return working == 0; })) return;
      lock.unlock();
      try {
        if (after) after(done);
        interruption_point();
      } catch (...) {
        keep_failure(count);
      }
      lock.lock();
    }
  };
  const int team = inside_team() ? 1 : static_cast<int>(std::clamp<Index>(count, 1, threads));
  working = team - 1;
  run_on_team(team, [&](int member) {
    work(member == 0);
    if (member == 0) {
      if (after || current_interruptible() != nullptr) wait_for_others();
      return;
    }
    const std::lock_guard lock(guard);
    --working;
    ended.notify_one();
  });

  if (failure) std::rethrow_exception(failure);
  if (count > 0 && after) after(count);
}

}  // namespace widelimit
