#include "widelimit/backend/cpu/parallel.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace widelimit::cpu {

namespace {

/// A team of one is no parallel region to OpenBLAS, which would then start threads of its own; told that one is the
/// most it may use, it computes what it computes inside a region.
class SingleThread {
 public:
  SingleThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThread() { omp_set_num_threads(before_); }
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int before_;
};

}  // namespace

int available_threads() { return std::max(1, omp_get_num_procs()); }

void parallel_for(Index count, int threads, const std::function<void(Index)>& task, const std::function<void()>& poll) {
  if (threads == 1 || count <= 1) {
    const SingleThread single;
    for (Index k = 0; k < count; ++k) {
      if (poll) poll();
      task(k);
    }
    return;
  }
  std::atomic<Index> next = 0;
  std::atomic<bool> stopped = false;
  std::exception_ptr first_error;
  std::mutex error_lock;
#pragma omp parallel num_threads(threads)
  {
    const bool caller = omp_get_thread_num() == 0;
    while (!stopped) {
      try {
        if (caller && poll) poll();
        const Index k = next++;
        if (k >= count) break;
        task(k);
      } catch (...) {
        const std::lock_guard<std::mutex> guard(error_lock);
        if (!first_error) first_error = std::current_exception();
        stopped = true;
      }
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace widelimit::cpu
