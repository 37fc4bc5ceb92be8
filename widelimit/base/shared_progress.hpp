#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

namespace widelimit {

/// One Progress for tasks that parallel_for runs at once, each of which may report from within: what the thread that
/// made it hears goes on to `whole`, as tasks done; the other threads hear whether that one was told to stop.
class SharedProgress final : public Progress {
 public:
  SharedProgress(Progress* whole, Index tasks, std::string_view unit) : whole_(whole), tasks_(tasks), unit_(unit) {}

  /// What tasks report to; null where there is no listener.
  [[nodiscard]] Progress* get() { return whole_ != nullptr ? this : nullptr; }
  bool update(std::int64_t done, std::int64_t total, std::string_view unit) override;
  /// For the end of parallel_for: so many tasks are done. Throws Error{interrupted} where it is to stop.
  void at(Index done);

 private:
  bool tell();

  Progress* whole_;
  Index tasks_;
  std::string unit_;
  Index done_ = 0;
  std::atomic<bool> stopped_{false};
  std::thread::id owner_ = std::this_thread::get_id();
};

}  // namespace widelimit
