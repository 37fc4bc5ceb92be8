#include "widelimit/base/shared_progress.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit {

bool SharedProgress::tell() {
  if (whole_ != nullptr && !whole_->update(done_, tasks_, unit_)) stopped_ = true;
  return !stopped_;
}

bool SharedProgress::update(std::int64_t /*done*/, std::int64_t /*total*/, std::string_view /*unit*/) {
  return std::this_thread::get_id() == owner_ ? tell() : !stopped_;
}

void SharedProgress::at(Index done) {
  done_ = done;
  if (!tell()) fail(Code::interrupted, "stopped after {} of {} {}", done, tasks_, unit_);
}

}  // namespace widelimit
