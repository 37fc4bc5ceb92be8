#pragma once

#include "widelimit/base/types.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace widelimit {

/// Receives the progress of long computations and may stop them. Called from the thread that called the library, at
/// most a few times a second.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `done` of `total` units (`unit`: pairs, rows, bytes). Return false to stop: the computation then throws
  /// Error{interrupted}.
  virtual bool update(std::int64_t done, std::int64_t total, std::string_view unit) = 0;
};

/// Between two pieces of work: Error{interrupted} where `progress` says to stop, which it is asked by 0 of 0. Nothing
/// where there is no listener.
void stop_if_asked(Progress* progress);

/// Time between two reports.
inline constexpr std::chrono::milliseconds progress_interval{200};

/// Reports to a Progress a few times a second at most; does nothing where there is none.
class ProgressTicker {
 public:
  ProgressTicker(Progress* progress, std::int64_t total, std::string_view unit)
      : progress_(progress), total_(total), unit_(unit) {}
  /// Throws Error{interrupted} where the progress asks to stop. The last unit is always reported.
  void at(std::int64_t done);

 private:
  Progress* progress_;
  std::int64_t total_;
  std::string_view unit_;
  std::chrono::steady_clock::time_point next_{};
};

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
