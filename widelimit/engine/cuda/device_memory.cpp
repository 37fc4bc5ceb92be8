#include "widelimit/engine/cuda/device_memory.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"

#include <algorithm>
#include <typeinfo>

namespace widelimit::cuda {

namespace {

/// Bytes transferred between two interruption points (a few hundredths of a second).
constexpr std::size_t piece_bytes = std::size_t{256} << 20;

template <typename Move>
void by_pieces(const Array& a, const Move& move) {
  const auto row_bytes = static_cast<Index>(std::max<std::size_t>(1, usize(a.cols) * sizeof(double)));
  const Index rows = std::max<Index>(1, static_cast<Index>(piece_bytes) / row_bytes);
  for (Index begin = 0; begin < a.rows; begin += rows) {
    interruption_point();
    move(begin, std::min(rows, a.rows - begin));
  }
}

template <typename T>
HostArray rows_of(MatrixView<T> view, Index begin, Index count) {
  using Plain = std::remove_const_t<T>;
  return {const_cast<Plain*>(view.row(begin)), count, view.cols, view.stride, precision_of<Plain>};
}

const DeviceMemory& memory_of(const EngineMatrix& a, const Device& device) {
  const EngineMatrix::Memory* memory = a.memory();
  const auto* own =
      memory != nullptr && typeid(*memory) == typeid(DeviceMemory) ? static_cast<const DeviceMemory*>(memory) : nullptr;
  if (own == nullptr || own->device() != &device) {
    fail(Code::usage, "the matrix is empty or belongs to another engine or device; pass a matrix of this CUDA device");
  }
  return *own;
}

}  // namespace

DeviceMemory::DeviceMemory(const std::shared_ptr<Device>& device, Index rows, Index cols, Precision precision)
    : device_(device),
      buffer_(device, usize(rows * cols) * size_of(precision)),
      all_{buffer_.data(), rows, cols, cols, precision} {}

EngineMatrix allocate(const std::shared_ptr<Device>& device, Index rows, Index cols, Precision precision) {
  return {std::make_shared<DeviceMemory>(device, rows, cols, precision), rows, cols, precision};
}

Array block(const Array& a, Index row, Index col, Index rows, Index cols) {
  auto* const first = static_cast<char*>(a.data) + usize(row * a.stride + col) * size_of(a.precision);
  return {first, rows, cols, a.stride, a.precision};
}

Array array_of(const EngineMatrix& a, const Device& device) {
  return block(memory_of(a, device).all(), a.first_row(), a.first_col(), a.rows(), a.cols());
}

Array writable_array(const EngineMatrix& a, const Device& device) {
  if (!memory_of(a, device).writable()) {
    fail(Code::usage, "a matrix owned by another library cannot be overwritten; use a copy of it");
  }
  return array_of(a, device);
}

std::size_t scratch_limit(const Device& device) {
  return std::min(std::size_t{2} << 30, device.facts().free_memory / 8);
}

void upload(Device& device, const AnyView& from, const Array& to) {
  std::visit(
      [&](const auto& view) {
        by_pieces(to, [&](Index begin, Index count) {
          device.upload(rows_of(view, begin, count), block(to, begin, 0, count, to.cols));
        });
      },
      from);
}

template <std::floating_point T>
void download(Device& device, const Array& from, MatrixView<T> to) {
  by_pieces(from, [&](Index begin, Index count) {
    device.download(block(from, begin, 0, count, from.cols), rows_of(to, begin, count));
  });
}

template <std::floating_point T>
void fetch(Device& device, const Array& from, MatrixView<T> to) {
  by_pieces(from, [&](Index begin, Index count) {
    device.fetch(block(from, begin, 0, count, from.cols), rows_of(to, begin, count));
  });
}

template void download(Device&, const Array&, MatrixView<float>);
template void download(Device&, const Array&, MatrixView<double>);
template void fetch(Device&, const Array&, MatrixView<float>);
template void fetch(Device&, const Array&, MatrixView<double>);

}  // namespace widelimit::cuda
