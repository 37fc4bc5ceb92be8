#pragma once

#include <cstdint>
#include <string_view>

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
void stop_if_asked(Progress* progress);

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

}  // namespace widelimit
