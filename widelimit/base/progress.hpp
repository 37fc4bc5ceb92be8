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

}  // namespace widelimit
