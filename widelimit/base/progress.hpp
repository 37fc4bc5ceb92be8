#pragma once

#include "widelimit/base/types.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace widelimit {

/// Receives the progress of long computations and can stop them. Called on the thread that called the library, at most
/// a few times per second.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Reports `done` of `total` units (`unit`: pairs, rows, bytes). If it returns false, the computation throws
  /// Error{interrupted}.
  virtual bool update(std::int64_t done, std::int64_t total, std::string_view unit) = 0;
};

/// Calls progress->update(0, 0, "") and throws Error{interrupted} if it returns false. No effect if `progress` is null.
void stop_if_requested(Progress* progress);

/// Throttles reports to a few per second; no effect if the Progress is null.
class ProgressTicker {
 public:
  ProgressTicker(Progress* progress, std::int64_t total, std::string_view unit)
      : progress_(progress), total_(total), unit_(unit) {}
  /// Throws Error{interrupted} if the Progress requests a stop. The last unit is always reported.
  void at(std::int64_t done);

 private:
  Progress* progress_;
  std::int64_t total_;
  std::string_view unit_;
  std::int64_t next_ = 0;  ///< steady-clock nanoseconds
};

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
  bool report();

  Progress* whole_;
  Index tasks_;
  std::string unit_;
  Index done_ = 0;
  std::atomic<bool> stopped_{false};
  std::thread::id owner_ = std::this_thread::get_id();
};

}  // namespace widelimit
