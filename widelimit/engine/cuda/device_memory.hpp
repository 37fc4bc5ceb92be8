#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/cuda/device.hpp"

#include <span>
#include <vector>

namespace widelimit::cuda {

/// Tiles for the host that the device holds at once: one is computed, one fetched, one queued.
constexpr std::size_t tiles_under_way = 3;

/// Owning device memory (RAII).
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

  /// Copies host values or steps to the device.
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

/// A device matrix behind an EngineMatrix handle.
class DeviceMemory final : public EngineMatrix::Memory {
 public:
  DeviceMemory(const std::shared_ptr<Device>& device, Index rows, Index cols, Precision precision);
  /// Read-only entries of another library, kept alive by `owner`.
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
/// Returns the entries of a handle; throws Error{usage} if it belongs to another engine or device.
[[nodiscard]] Array array_of(const EngineMatrix& a, const Device& device);
/// The same for writing; throws Error{usage} if another library owns the entries.
[[nodiscard]] Array writable_array(const EngineMatrix& a, const Device& device);
[[nodiscard]] Array block(const Array& a, Index row, Index col, Index rows, Index cols);

/// Limit on a scratch buffer of a fill: 2 GiB, and at most an eighth of the free memory of the device.
[[nodiscard]] std::size_t scratch_limit(const Device& device);

/// Copies between host and device in pieces of some hundred megabytes, with an interruption point between pieces. Work
/// on the downloaded entries must have finished.
void upload(Device& device, const AnyView& from, const Array& to);
template <std::floating_point T>
void download(Device& device, const Array& from, MatrixView<T> to);
/// Like download, through Device::fetch: work on the fetched entries must have finished.
template <std::floating_point T>
void fetch(Device& device, const Array& from, MatrixView<T> to);

}  // namespace widelimit::cuda
