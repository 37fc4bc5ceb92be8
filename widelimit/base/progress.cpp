#include "widelimit/base/progress.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"

namespace widelimit {

void stop_if_requested(Progress* progress) {
  if (progress != nullptr && !progress->update(0, 0, ""))
    fail(Code::interrupted, "stopped before the computation was complete");
}

void ProgressTicker::at(std::int64_t done) {
  if (progress_ == nullptr) return;
  const std::chrono::nanoseconds now = Clock::now().time_since_epoch();
  if (now.count() < next_ && done < total_) return;
  next_ = (now + progress_interval).count();
  if (!progress_->update(done, total_, unit_)) {
    fail(Code::interrupted, "stopped after {} of {} {}", done, total_, unit_);
  }
}

bool SharedProgress::report() {
  if (whole_ != nullptr && !whole_->update(done_, tasks_, unit_)) stopped_ = true;
  return !stopped_;
}

bool SharedProgress::update(std::int64_t /*done*/, std::int64_t /*total*/, std::string_view /*unit*/) {
  return std::this_thread::get_id() == owner_ ? report() : !stopped_;
}

void SharedProgress::at(Index done) {
  done_ = done;
  if (!report()) fail(Code::interrupted, "stopped after {} of {} {}", done, tasks_, unit_);
}

}  // namespace widelimit
