#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace widelimit {

/// One Progress for tasks that parallel_for runs in parallel, each of which may report. Reports of the thread that
/// created it are forwarded to `whole` as finished tasks; the other threads only learn whether to stop.
class SharedProgress final : public Progress {
 public:
  SharedProgress(Progress* whole, Index tasks, std::string_view unit) : whole_(whole), tasks_(tasks), unit_(unit) {}

  /// What tasks report to; null where there is no listener.
  [[nodiscard]] Progress* get() { return whole_ != nullptr ? this : nullptr; }
  bool update(std::int64_t done, std::int64_t total, std::string_view unit) override;
  /// Callback of parallel_for: so many tasks are done. Throws Error{interrupted} to stop.
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
