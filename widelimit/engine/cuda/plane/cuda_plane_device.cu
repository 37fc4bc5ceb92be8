#include "widelimit/base/error.hpp"
#include "widelimit/engine/cuda/plane/cuda_plane_device.hpp"
#include "widelimit/engine/cuda/plane/plane_stage_launch.hpp"

#include <climits>

namespace widelimit::cuda {

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  const char* words = cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) fail(Code::resource, "the device has not enough memory: {}", words);
  fail(Code::numerical, "the device stopped: {}", words);
}

/// One thread for each pair; `bad`: the first pair whose value leaves the range.
template <typename T>
__global__ void write_values(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored,
                             T* to, std::int64_t stride, int* bad) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const ImagePair pair = pairs[k];
  if (mirrored && pair.first >= pair.second) return;
  const auto value = static_cast<T>(values[k]);
  if (!isfinite(value)) atomicMin(bad, k);
  const std::int64_t i = pair.first - row;
  const std::int64_t j = pair.second - col;
  to[i * stride + j] = value;
  if (mirrored) to[j * stride + i] = value;
}

class CudaPlaneDevice final : public PlaneDevice {
 public:
  CudaPlaneDevice() { check(cudaMalloc(&bad_, sizeof(int))); }
  ~CudaPlaneDevice() override {
    cudaFree(bad_);
    cudaFree(memory_.data);
  }
  CudaPlaneDevice(const CudaPlaneDevice&) = delete;
  CudaPlaneDevice& operator=(const CudaPlaneDevice&) = delete;

  void* allocate(std::size_t bytes) override {
    void* data = nullptr;
    check(cudaMalloc(&data, bytes));
    return data;
  }
  void release(void* memory) noexcept override { cudaFree(memory); }
  void upload(const void* from, std::size_t bytes, void* to) override {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  }
  void download(const void* from, std::size_t bytes, void* to) override {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
  }

  void trace_images(const RegisterStack& stack, float* records, int count) override {
    trace_register_images(stack, records, count, nullptr);
    check(cudaGetLastError());
  }
  void sum_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                  int count, double* sums) override {
    sum_register_planes(stack, first, second, pairs, count, sums, nullptr);
    check(cudaGetLastError());
  }
  void sum_equal(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs, int count,
                 double* sums) override {
    sum_equal_positions(stack, first, second, pairs, count, sums, nullptr);
    check(cudaGetLastError());
  }
  void pool_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                   int count, float* parts) override {
    pool_register_planes(stack, first, second, pairs, count, parts, nullptr);
    check(cudaGetLastError());
  }

  void run_stage(const PlaneStageCall& call, Precision arithmetic) override {
    const std::int64_t wanted = stage_scratch(call, arithmetic);
    if (wanted > memory_.bytes) {
      check(cudaFree(memory_.data));
      memory_ = {};
      check(cudaMalloc(&memory_.data, static_cast<std::size_t>(wanted)));
      memory_.bytes = wanted;
    }
    run_plane_stage(call, arithmetic, memory_, nullptr);
    check(cudaGetLastError());
  }
  int write(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored,
            const PlaneOutput& to) override {
    int bad = INT_MAX;
    upload(&bad, sizeof bad, bad_);
    constexpr int threads = 256;
    const int blocks = (count + threads - 1) / threads;
    if (to.precision == Precision::f32) {
      write_values<<<blocks, threads>>>(values, pairs, count, row, col, mirrored, static_cast<float*>(to.data),
                                        to.stride, bad_);
    } else {
      write_values<<<blocks, threads>>>(values, pairs, count, row, col, mirrored, static_cast<double*>(to.data),
                                        to.stride, bad_);
    }
    check(cudaGetLastError());
    download(bad_, sizeof bad, &bad);
    return bad == INT_MAX ? -1 : bad;
  }

 private:
  StageMemory memory_;
  int* bad_ = nullptr;
};

}  // namespace

std::unique_ptr<PlaneDevice> make_cuda_plane_device() { return std::make_unique<CudaPlaneDevice>(); }

}  // namespace widelimit::cuda
