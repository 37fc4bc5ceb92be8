#pragma once

#include <chrono>

namespace widelimit {

using Clock = std::chrono::steady_clock;

/// Returns the elapsed wall-clock time in seconds.
[[nodiscard]] inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Minimum time between two progress reports.
inline constexpr std::chrono::milliseconds progress_interval{200};

}  // namespace widelimit
