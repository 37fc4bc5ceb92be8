#pragma once

#include "widelimit/engine/layers.hpp"

#include <atomic>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

namespace widelimit {

/// An array of numbers in host memory, in the memory of an engine with layers, or in both. Each side requests the
/// numbers where it needs them; they are transferred only if the other side has the newest. Concurrent reads on the
/// host are safe. Each access checks the location, so loops should hoist the pointer.
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
  /// Initialises to 0.
  explicit Values(std::size_t count) : host_(count), size_(count) {}
  Values(std::vector<T> numbers) : host_(std::move(numbers)), size_(host_.size()) {}
  template <std::input_iterator It>
  Values(It first, It last) : Values(std::vector<T>(first, last)) {}
  /// Returns an uninitialised array, to be written before it is read.
  [[nodiscard]] static Values unset(std::size_t count) {
    Values values;
    values.resize(count);
    return values;
  }
  /// The copy is on the same side as the original; on the engine if the original is on both.
  Values(const Values& other);
  Values(Values&& other) noexcept;
  Values& operator=(const Values& other);
  Values& operator=(Values&& other) noexcept;
  ~Values() { drop_engine_memory(); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  // Host side. Mutable access makes the host copy the newest.
  [[nodiscard]] const T* data() const {
    if (place_.load(std::memory_order_acquire) > Place::both) fetch();
    return host_.data();
  }
  [[nodiscard]] T* data() {
    if (place_.load(std::memory_order_acquire) != Place::host) make_host_newest();
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

  /// Changes the size and invalidates the numbers; keeps the memory.
  void resize(std::size_t count);
  /// Sets all numbers to 0 where they are.
  void clear();

  // Engine side.
  using Side = std::shared_ptr<LayerPasses<T>>;
  /// Returns true if the engine has the newest numbers.
  [[nodiscard]] bool on_engine() const {
    const Place place = place_.load(std::memory_order_acquire);
    return place == Place::both || place == Place::device;
  }
  /// Returns the engine that holds memory for these numbers, or null.
  [[nodiscard]] const Side& side() const { return side_; }
  /// Pointers for reading, for overwriting all numbers, and for reading and modifying.
  [[nodiscard]] const T* read(const Side& side) const;
  [[nodiscard]] T* write(const Side& side);
  [[nodiscard]] T* update(const Side& side);
  /// Moves all numbers to the host and frees the engine memory.
  void move_to_host();

 private:
  /// Location of the newest numbers; `unset`: not written yet.
  enum class Place : std::uint8_t { host, both, device, unset };

  void fetch() const;
  void make_host_newest();
  void reserve(const Side& side) const;
  void drop_engine_memory() const noexcept;
  void copy_from(const Values& other);

  mutable std::vector<T> host_;
  std::size_t size_ = 0;
  mutable Side side_;
  mutable T* device_ = nullptr;
  mutable std::size_t capacity_ = 0;  ///< capacity of device_ in numbers
  mutable std::atomic<Place> place_ = Place::host;
};

}  // namespace widelimit
