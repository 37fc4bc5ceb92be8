#include "app/shell/progress_bar.hpp"

#include "app/shell/interrupt.hpp"
#include "app/shell/streams.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace widelimit::app {

namespace {

constexpr double min_shown_seconds = 1.0;  // smallest expected duration in seconds that is displayed
constexpr const char* clear_line = "\r\x1b[K";

std::string bar_text(double share) {
  constexpr int cells = 28;
  const int full = std::clamp(static_cast<int>(share * cells), 0, cells);
  std::string text;
  for (int k = 0; k < cells; ++k) text += k < full ? "█" : "░";
  return text;
}

/// Formats a rate with three digits and a prefix of a power of 1000: "12.3 M".
std::string rate_text(double rate) {
  constexpr std::string_view letters = " kMGT";
  std::size_t power = 0;
  for (; rate >= 1000 && power + 1 < letters.size(); ++power) rate /= 1000;
  return power == 0 ? fmt::format("{:.3g} ", rate) : fmt::format("{:.3g} {}", rate, letters[power]);
}

int terminal_width() {
  struct winsize size {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(std::min(seconds, 1e9)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

ProgressBar::ProgressBar(const CommonOptions& options)
    : terminal_(::isatty(STDERR_FILENO) == 1), shown_(!options.quiet && (terminal_ || options.progress)) {}

ProgressBar::~ProgressBar() {
  if (drawn_ && terminal_) print_error(clear_line);
}

bool ProgressBar::update(std::int64_t done, std::int64_t total, std::string_view unit) {
  if (interrupted()) return false;
  if (total == 0) return true;  // only checks for an interrupt
  const auto now = Clock::now();
  if (done < last_done_) {  // the next stage
    start_ = now;
    first_done_ = done;
  }
  last_done_ = done;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const auto interval = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000);
  const bool due = now - last_draw_ >= interval || (done == total && drawn_);
  if (!shown_ || done <= first_done_ || total <= 0 || !due || seconds < 0.3) return true;
  const double rate = static_cast<double>(done - first_done_) / seconds;
  if (drawn_ || static_cast<double>(total) / rate > min_shown_seconds) {
    draw(done, total, unit, rate);
    last_draw_ = now;
  }
  return true;
}

void ProgressBar::draw(std::int64_t done, std::int64_t total, std::string_view unit, double rate) {
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const std::string numbers = fmt::format("{:3.0f} %  {}{}/s  {} left", 100 * share, rate_text(rate), unit,
                                          duration_text(static_cast<double>(total - done) / rate));
  const bool bar_fits = terminal_width() > 30 + static_cast<int>(numbers.size());
  const std::string line = bar_fits ? bar_text(share) + "  " + numbers : numbers;
  print_error(terminal_ ? "\r" + line + "\x1b[K" : line + "\n");
  drawn_ = true;
}

}  // namespace widelimit::app
