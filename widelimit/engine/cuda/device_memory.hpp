#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/cuda/device.hpp"

#include <span>
#include <vector>

namespace widelimit::cuda {

/// Tiles for the host that a device holds at once: one is computed, one fetched, one about to begin.
constexpr std::size_t tiles_under_way = 3;
/// Products of unit rows that dense kernels keep beside them.
constexpr std::size_t dense_lanes = 2;

/// Memory of a device that is given back with the object.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(std::shared_ptr<Device> device, std::size_t bytes)
      : device_(std::move(device)), data_(device_->allocate(bytes)) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : device_(std::move(other.device_)), data_(std::exchange(other.data_, nullptr)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() {
    if (data_ != nullptr) device_->release(data_);
  }
  template <typename T = void>
  [[nodiscard]] T* data() const {
    return static_cast<T*>(data_);
  }

  /// A copy of numbers or steps of the host.
  template <typename T>
  [[nodiscard]] static DeviceBuffer of(const std::shared_ptr<Device>& device, std::span<const T> values) {
    DeviceBuffer buffer(device, values.size_bytes());
    device->upload_bytes(values.data(), values.size_bytes(), buffer.data());
    return buffer;
  }

 private:
  std::shared_ptr<Device> device_;
  void* data_ = nullptr;
};

/// A matrix of the device behind the handle of the seam.
class DeviceMemory final : public EngineMatrix::Memory {
 public:
  DeviceMemory(const std::shared_ptr<Device>& device, Index rows, Index cols, Precision precision);
  /// Entries of another library, which `owner` keeps; they are not written to.
  DeviceMemory(std::shared_ptr<Device> device, const Array& entries, std::shared_ptr<const void> owner)
      : device_(std::move(device)), owner_(std::move(owner)), all_(entries) {}
  [[nodiscard]] const Array& all() const { return all_; }
  [[nodiscard]] const Device* device() const { return device_.get(); }
  [[nodiscard]] bool writable() const { return buffer_.data() != nullptr; }

 private:
  std::shared_ptr<Device> device_;
  DeviceBuffer buffer_;
  std::shared_ptr<const void> owner_;
  Array all_;
};

[[nodiscard]] EngineMatrix allocate(const std::shared_ptr<Device>& device, Index rows, Index cols, Precision precision);
/// The entries of a handle. Error{usage} where it is of another engine or device.
[[nodiscard]] Array array_of(const EngineMatrix& a, const Device& device);
/// The same, to be written to: Error{usage} where the entries are another library's.
[[nodiscard]] Array writable_array(const EngineMatrix& a, const Device& device);
[[nodiscard]] Array block(const Array& a, Index row, Index col, Index rows, Index cols);

[[nodiscard]] inline std::size_t size_of(Precision precision) {
  return precision == Precision::f32 ? sizeof(float) : sizeof(double);
}

/// Between host and device, some hundred megabytes at a time with an interruption point between two pieces. Work on
/// what is downloaded must have ended.
void upload(Device& device, const AnyView& from, const Array& to);
template <std::floating_point T>
void download(Device& device, const Array& from, MatrixView<T> to);
/// As download, by Device::fetch: work on what is fetched must have ended.
template <std::floating_point T>
void fetch(Device& device, const Array& from, MatrixView<T> to);

}  // namespace widelimit::cuda
