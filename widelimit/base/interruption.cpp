#include "widelimit/base/interruption.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <utility>

namespace widelimit {

namespace {

thread_local Interruptible* current = nullptr;

}  // namespace

Interruptible* current_interruptible() { return current; }

Interruptible* exchange_interruptible(Interruptible* next) { return std::exchange(current, next); }

Interruptible::Interruptible(Progress* listener, std::chrono::milliseconds interval)
    : listener_(listener), outer_(current), interval_(interval) {
  if (listener_ == nullptr) return;
  if (enclosing() != nullptr) interval_ = std::min(interval, enclosing()->interval_);
  next_ = enclosing() != nullptr ? enclosing()->next_ : std::chrono::steady_clock::now() + interval;
  current = this;
}

Interruptible::~Interruptible() {
  if (listener_ == nullptr) return;
  if (enclosing() != nullptr) enclosing()->next_ = next_;
  current = outer_;
}

Interruptible* Interruptible::enclosing() const {
  return outer_ != nullptr && outer_->owner_ == owner_ ? outer_ : nullptr;
}

bool Interruptible::stopped() const {
  for (const Interruptible* object = this; object != nullptr; object = object->outer_) {
    if (object->stopped_) return true;
  }
  return false;
}

/// Only the owning thread calls the listener; the other threads read the flag.
void Interruptible::poll() {
  if (std::this_thread::get_id() != owner_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + interval_;
  if (!listener_->update(0, 0, "")) stopped_ = true;
}

void interruption_point() {
  if (current == nullptr) return;
  if (!current->stopped()) current->poll();
  if (current->stopped()) fail(Code::interrupted, "stopped before the computation was complete");
}

}  // namespace widelimit
