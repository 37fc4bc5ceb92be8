#include "widelimit/engine/cuda/plugin/plane/cuda_plane_device.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/cuda/plugin/plane/plane_stage_launch.hpp"

#include <cuda_runtime_api.h>

#include <climits>

namespace widelimit::cuda {

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  const char* words = cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) fail(Code::resource, "the device has not enough memory: {}", words);
  fail(Code::numerical, "the device stopped: {}", words);
}

void* allocated(std::size_t bytes) {
  void* data = nullptr;
  check(cudaMalloc(&data, bytes));
  return data;
}

class CudaPlaneDevice final : public PlaneDevice {
 public:
  ~CudaPlaneDevice() override {
    cudaFree(bad_);
    cudaFree(memory_.data);
  }
  CudaPlaneDevice() = default;
  CudaPlaneDevice(const CudaPlaneDevice&) = delete;
  CudaPlaneDevice& operator=(const CudaPlaneDevice&) = delete;

  void* allocate(std::size_t bytes) override { return allocated(bytes); }
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
  void run_packed(const PlaneStageCall& call, const PackedStack& stack) override {
    run_packed_stage(call, stack, nullptr);
    check(cudaGetLastError());
  }
  int write(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored,
            const PlaneOutput& to) override {
    int bad = INT_MAX;
    upload(&bad, sizeof bad, bad_);
    write_plane_values(values, pairs, count, row, col, mirrored, to, bad_, nullptr);
    check(cudaGetLastError());
    download(bad_, sizeof bad, &bad);
    return bad == INT_MAX ? -1 : bad;
  }

 private:
  StageMemory memory_;
  int* bad_ = static_cast<int*>(allocated(sizeof(int)));
};

}  // namespace

std::unique_ptr<PlaneDevice> make_cuda_plane_device() { return std::make_unique<CudaPlaneDevice>(); }

}  // namespace widelimit::cuda
