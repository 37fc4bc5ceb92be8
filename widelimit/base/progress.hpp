#pragma once

#include <cstdint>
#include <string_view>

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
  std::int64_t next_ = 0;  ///< nanoseconds of the steady clock
};

}  // namespace widelimit
