#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace widelimit {

/// Shares one Progress among the tasks of parallel_for. Reports on the creating thread are forwarded to `whole` as the
/// number of finished tasks; other threads only receive the stop flag.
class SharedProgress final : public Progress {
 public:
  SharedProgress(Progress* whole, Index tasks, std::string_view unit) : whole_(whole), tasks_(tasks), unit_(unit) {}

  /// Progress to pass to tasks; null without a listener.
  [[nodiscard]] Progress* get() { return whole_ != nullptr ? this : nullptr; }
  bool update(std::int64_t done, std::int64_t total, std::string_view unit) override;
  /// `after` callback of parallel_for: `done` tasks are finished. Throws Error{interrupted} on a request to stop.
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
