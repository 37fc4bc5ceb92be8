#pragma once

#include "widelimit/engine/layers.hpp"

#include <atomic>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

namespace widelimit {

/// Numbers of a network, a value: in host memory, in that of an engine with layers, or in both. Each side asks for them
/// where it works, and they travel only where the newest are on the other side. Reading on the host is safe from
/// several threads; each access checks where the numbers are, so loops take the pointer once.
template <std::floating_point T>
class Values {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  Values() = default;
  /// Zeros.
  explicit Values(std::size_t count) : host_(count), size_(count) {}
  Values(std::vector<T> numbers) : host_(std::move(numbers)), size_(host_.size()) {}
  template <std::input_iterator It>
  Values(It first, It last) : Values(std::vector<T>(first, last)) {}
  /// To be written before they are read.
  [[nodiscard]] static Values unset(std::size_t count) {
    Values values;
    values.resize(count);
    return values;
  }
  /// A copy is where the original is, on the engine's side where it is on both.
  Values(const Values& other);
  Values(Values&& other) noexcept;
  Values& operator=(const Values& other);
  Values& operator=(Values&& other) noexcept;
  ~Values() { drop_engine_memory(); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  // The host's side. Whoever may write makes its numbers the newest.
  [[nodiscard]] const T* data() const {
    if (place_.load(std::memory_order_acquire) > Place::both) fetch();
    return host_.data();
  }
  [[nodiscard]] T* data() {
    if (place_.load(std::memory_order_acquire) != Place::host) claim();
    return host_.data();
  }
  [[nodiscard]] const std::vector<T>& host() const { return (void)data(), host_; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] T& operator[](std::size_t i) { return data()[i]; }
  bool operator==(const Values& other) const { return host() == other.host(); }

  /// Another size; numbers are to be written before they are read. Memory is kept.
  void resize(std::size_t count);
  /// All 0, where the numbers are.
  void clear();

  // The engine's side.
  using Side = std::shared_ptr<LayerPasses<T>>;
  /// Whether the newest numbers are there.
  [[nodiscard]] bool on_engine() const {
    const Place place = place_.load(std::memory_order_acquire);
    return place == Place::both || place == Place::device;
  }
  /// The engine that has memory for these numbers, or none.
  [[nodiscard]] const Side& side() const { return side_; }
  /// To be read, to be overwritten as a whole, to be read and changed.
  [[nodiscard]] const T* read(const Side& side) const;
  [[nodiscard]] T* write(const Side& side);
  [[nodiscard]] T* update(const Side& side);
  /// All numbers to the host, and the memory of the engine given back.
  void bring_home();

 private:
  /// Who has the newest numbers; `unset`: they were not written yet.
  enum class Place : std::uint8_t { host, both, device, unset };

  void fetch() const;
  void claim();
  void make_room(const Side& side) const;
  void drop_engine_memory() const noexcept;
  void copy_from(const Values& other);

  mutable std::vector<T> host_;
  std::size_t size_ = 0;
  mutable Side side_;
  mutable T* device_ = nullptr;
  mutable std::size_t room_ = 0;  ///< numbers that device_ has memory for
  mutable std::atomic<Place> place_ = Place::host;
};

}  // namespace widelimit
