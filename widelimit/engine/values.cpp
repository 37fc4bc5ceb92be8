#include "widelimit/engine/values.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace widelimit {

namespace {

/// Transfers are rare and long, so one lock serves all arrays. Both sides allow concurrent reads.
std::recursive_mutex& moving() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

template <std::floating_point T>
Values<T>::Values(const Values& other) {
  copy_from(other);
}

template <std::floating_point T>
Values<T>::Values(Values&& other) noexcept
    : host_(std::move(other.host_)),
      size_(std::exchange(other.size_, 0)),
      side_(std::move(other.side_)),
      device_(std::exchange(other.device_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)),
      place_(other.place_.exchange(Place::host)) {
  other.host_.clear();
}

template <std::floating_point T>
Values<T>& Values<T>::operator=(const Values& other) {
  if (this != &other) copy_from(other);
  return *this;
}

template <std::floating_point T>
Values<T>& Values<T>::operator=(Values&& other) noexcept {
  if (this == &other) return *this;
  std::swap(host_, other.host_);
  std::swap(size_, other.size_);
  std::swap(side_, other.side_);
  std::swap(device_, other.device_);
  std::swap(capacity_, other.capacity_);
  place_ = other.place_.exchange(place_);
  return *this;
}

template <std::floating_point T>
void Values<T>::copy_from(const Values& other) {
  resize(other.size_);
  if (other.on_engine()) {
    other.side_->copy(other.device_, static_cast<Index>(size_), write(other.side_));
  } else {
    const T* const from = other.data();
    host_.assign(from, from + size_);
    place_ = Place::host;
  }
}

template <std::floating_point T>
void Values<T>::fetch() const {
  const std::lock_guard lock(moving());
  const Place place = place_;
  if (place == Place::host || place == Place::both) return;
  host_.resize(size_);
  if (place == Place::device) side_->download(device_, static_cast<Index>(size_), host_.data());
  place_.store(place == Place::device ? Place::both : Place::host, std::memory_order_release);
}

template <std::floating_point T>
void Values<T>::make_host_newest() {
  fetch();
  place_.store(Place::host, std::memory_order_release);
}

template <std::floating_point T>
void Values<T>::resize(std::size_t count) {
  if (count == size_ && place_ == Place::host) return;
  size_ = count;
  place_ = Place::unset;
}

template <std::floating_point T>
void Values<T>::clear() {
  if (side_ != nullptr) {
    T* const all = write(side_);
    side_->clear(all, static_cast<Index>(size_));
  } else {
    std::fill_n(data(), size_, T{0});
  }
}

template <std::floating_point T>
void Values<T>::drop_engine_memory() const noexcept {
  if (device_ != nullptr) side_->release(device_);
  device_ = nullptr;
  capacity_ = 0;
}

template <std::floating_point T>
void Values<T>::reserve(const Side& side) const {
  if (side_ == side && device_ != nullptr && capacity_ >= size_) return;
  if (place_ == Place::both || place_ == Place::device) {
    fetch();
    place_ = Place::host;
  }
  drop_engine_memory();
  side_ = side;
  device_ = side_->allocate(static_cast<Index>(size_));
  capacity_ = size_;
}

template <std::floating_point T>
const T* Values<T>::read(const Side& side) const {
  if (on_engine() && side_ == side) return device_;
  const std::lock_guard lock(moving());
  reserve(side);
  if (place_ == Place::host) {
    side_->upload(host_.data(), static_cast<Index>(size_), device_);
    place_.store(Place::both, std::memory_order_release);
  }
  return device_;
}

template <std::floating_point T>
T* Values<T>::write(const Side& side) {
  if (side_ != side || capacity_ < size_) place_ = Place::unset;  // the old numbers are not needed
  reserve(side);
  place_ = Place::device;
  return device_;
}

template <std::floating_point T>
T* Values<T>::update(const Side& side) {
  (void)read(side);
  place_ = Place::device;
  return device_;
}

template <std::floating_point T>
void Values<T>::move_to_host() {
  (void)data();
  drop_engine_memory();
  side_.reset();
}

template class Values<float>;
template class Values<double>;

}  // namespace widelimit
