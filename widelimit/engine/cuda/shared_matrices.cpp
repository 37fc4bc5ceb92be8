#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/engine/cuda/cuda_algebra.hpp"

/// Matrices shared with other libraries, and memory information of the device.
namespace widelimit::cuda {

EngineMatrix CudaAlgebra::adopt(const DeviceView& foreign, std::shared_ptr<const void> owner) const {
  Array entries{foreign.data, foreign.rows, foreign.cols, foreign.stride, foreign.precision};
  if (entries.rows <= 1) entries.stride = entries.cols;  // with at most one row the stride is irrelevant
  if (entries.rows < 0 || entries.cols < 0 || entries.stride < entries.cols) {
    fail(Code::input, "a matrix of {} by {} entries with row stride {} cannot be used without a copy", entries.rows,
         entries.cols, entries.stride);
  }
  const bool empty = entries.rows == 0 || entries.cols == 0;
  if (!empty && (entries.data == nullptr || !device_->reaches(entries.data))) {
    fail(Code::input, "the matrix lies in memory that this device cannot access; copy it to the device first");
  }
  device_->synchronize();
  return {std::make_shared<DeviceMemory>(device_, entries, std::move(owner)), entries.rows, entries.cols,
          entries.precision};
}

DeviceView CudaAlgebra::device_view(const EngineMatrix& a) const {
  const Array entries = of(a);
  return {entries.data, entries.rows, entries.cols, entries.stride, entries.precision};
}

MemoryUse CudaAlgebra::memory_use() const {
  const DeviceFacts facts = device_->facts();
  return {facts.free_memory, facts.taken_memory, facts.memory};
}

std::size_t CudaAlgebra::tile_bytes(Index edge, Index outputs, Precision precision) const {
  // Products by digits, which are larger, adapt to the free memory.
  return tiles_under_way * usize(outputs * edge * edge) * size_of(precision) +
         dense_lanes * product_bytes(DenseProducts::f64, edge, edge);
}

}  // namespace widelimit::cuda
