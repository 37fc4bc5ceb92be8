#pragma once

#include <chrono>

namespace widelimit {

using Clock = std::chrono::steady_clock;

/// Elapsed time for summaries and records.
[[nodiscard]] inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Between two reports of progress.
inline constexpr std::chrono::milliseconds progress_interval{200};

}  // namespace widelimit
