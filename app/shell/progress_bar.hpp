#pragma once

#include "app/shell/options.hpp"

#include "widelimit/base/progress.hpp"

#include <chrono>

namespace widelimit::app {

/// Progress on standard error: bar, percentage, speed, time left. On a terminal one line is redrawn in place and erased
/// at the end; otherwise --progress prints a line per second. Computations of less than a second print nothing.
/// update() returns false after a signal, whether progress is shown or not.
class ProgressBar final : public Progress {
 public:
  explicit ProgressBar(const CommonOptions& options);
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  bool update(std::int64_t done, std::int64_t total, std::string_view unit) override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::int64_t done, std::int64_t total, std::string_view unit, double rate);

  bool terminal_;
  bool shown_;
  bool drawn_ = false;
  std::int64_t first_done_ = 0;  ///< `done` of the current stage at start_
  std::int64_t last_done_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_draw_{};
};

/// Formats a duration: "4 s", "2 min 05 s", "1 h 12 min".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace widelimit::app
