#pragma once

#include "widelimit/engine/cuda/plugin/cuda_device.hpp"
#include "widelimit/engine/layers.hpp"

/// Include only from .cu files.
namespace widelimit::cuda {

constexpr int layer_threads = 256;

template <typename Pass>
__global__ void run_numbers(Index count, Pass pass) {
  const Index i = static_cast<Index>(blockIdx.x) * layer_threads + threadIdx.x;
  if (i < count) pass(i);
}

/// A block as the team of a row. Reductions use a binary tree in a fixed order.
class BlockTeam {
 public:
  explicit __device__ BlockTeam(double* parts) : parts_(parts) {}
  [[nodiscard]] __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  [[nodiscard]] __device__ int size() const { return static_cast<int>(blockDim.x); }
  [[nodiscard]] __device__ double sum(double value) const {
    return folded(value, [](double a, double b) { return a + b; });
  }
  [[nodiscard]] __device__ double largest(double value) const {
    return folded(value, [](double a, double b) { return fmax(a, b); });
  }

 private:
  template <typename Fold>
  [[nodiscard]] __device__ double folded(double value, const Fold& fold) const {
    parts_[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) parts_[threadIdx.x] = fold(parts_[threadIdx.x], parts_[threadIdx.x + half]);
      __syncthreads();
    }
    const double result = parts_[0];
    __syncthreads();
    return result;
  }

  double* parts_;
};

template <typename Pass>
__global__ void run_rows(Index count, Pass pass) {
  __shared__ double parts[layer_threads];
  for (Index row = blockIdx.x; row < count; row += gridDim.x) pass(row, BlockTeam(parts));
}

/// The machine of MachinePasses and MachineEnclosures on a CUDA device.
class CudaMachine {
 public:
  explicit CudaMachine(CudaDevice& device) : device_(device) {}
  CudaMachine(CudaMachine&& other) noexcept : device_(other.device_) {}
  ~CudaMachine() {
    if (scratch_ != nullptr) device_.release(scratch_);
  }

  [[nodiscard]] void* allocate(std::size_t bytes) { return device_.allocate(bytes); }
  void release(void* memory) noexcept { device_.release(memory); }
  [[nodiscard]] std::size_t free_bytes() const { return device_.facts().free_memory; }
  void upload(const void* from, std::size_t bytes, void* to) { device_.upload_bytes(from, bytes, to); }
  void download(const void* from, std::size_t bytes, void* to) { device_.download_bytes(from, bytes, to); }
  void copy(const void* from, std::size_t bytes, void* to) {
    const CudaDevice::DeviceLock lock(device_);
    if (bytes == 0) return;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, device_.stream()), "copying numbers");
  }
  void clear(void* to, std::size_t bytes) {
    const CudaDevice::DeviceLock lock(device_);
    if (bytes == 0) return;
    check(cudaMemsetAsync(to, 0, bytes, device_.stream()), "clearing numbers");
  }
  /// Locks the device for the calling thread.
  [[nodiscard]] CudaDevice::DeviceLock lock() const { return CudaDevice::DeviceLock(device_); }
  /// Returns a scratch buffer of at least `bytes`. Reuse is safe, since all work is ordered on one stream.
  [[nodiscard]] void* scratch(std::size_t bytes) {
    if (bytes <= capacity_) return scratch_;
    if (scratch_ != nullptr) device_.release(scratch_);
    scratch_ = nullptr;
    capacity_ = 0;
    scratch_ = device_.allocate(bytes);
    capacity_ = bytes;
    return scratch_;
  }

  template <typename T>
  void product(double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, double beta,
               MatrixView<T> c, const Repeated& repeated) {
    const auto array = [](auto view) {
      return Array{const_cast<T*>(view.data), view.rows, view.cols, view.stride, precision_of<T>};
    };
    device_.start_product(alpha, op_a, array(a), op_b, array(b), beta, array(c), repeated);
  }

  template <typename Pass>
  void each(Index count, const Pass& pass) {
    const CudaDevice::DeviceLock lock(device_);
    if (count == 0) return;
    run_numbers<<<static_cast<unsigned>((count + layer_threads - 1) / layer_threads), layer_threads, 0,
                  device_.stream()>>>(count, pass);
    check(cudaGetLastError(), "a pass over numbers");
  }
  template <typename Pass>
  void rows(Index count, const Pass& pass) {
    constexpr Index most_blocks = 1 << 20;
    const CudaDevice::DeviceLock lock(device_);
    if (count == 0) return;
    const auto blocks = static_cast<unsigned>(count < most_blocks ? count : most_blocks);
    run_rows<<<blocks, layer_threads, 0, device_.stream()>>>(count, pass);
    check(cudaGetLastError(), "a pass over rows");
  }

 private:
  CudaDevice& device_;
  void* scratch_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace widelimit::cuda
