#include "widelimit/engine/cuda/plugin/cuda_device.hpp"
#include "widelimit/engine/cuda/plugin/plane/plane_stage_launch.hpp"
#include "widelimit/engine/cuda/plugin/plane/shared_memory.hpp"

#include <algorithm>
#include <climits>

namespace widelimit::cuda {

namespace {

/// Share of the free memory that the planes of teams may take.
constexpr std::size_t scratch_share = 8;

/// Device memory for the planes of teams during a stage; empty if they fit into shared memory.
class TeamMemory {
 public:
  TeamMemory(CudaDevice& device, const StageScratch& scratch) : device_(device) {
    if (scratch.most == 0) return;
    const auto share = static_cast<std::int64_t>(device.facts().free_memory / scratch_share);
    const std::int64_t bytes = std::max(scratch.least, std::min(scratch.most, share));
    memory_ = {device.allocate(static_cast<std::size_t>(bytes)), bytes};
  }
  TeamMemory(const TeamMemory&) = delete;
  TeamMemory& operator=(const TeamMemory&) = delete;
  ~TeamMemory() {
    if (memory_.data == nullptr) return;
    (void)cudaStreamSynchronize(nullptr);  // the stage reads and writes it
    device_.release(memory_.data);
  }
  [[nodiscard]] const StageMemory& get() const { return memory_; }

 private:
  CudaDevice& device_;
  StageMemory memory_;
};

class CudaPlaneDevice final : public PlaneDevice {
 public:
  explicit CudaPlaneDevice(CudaDevice& device)
      : device_(device), bad_(static_cast<int*>(device.allocate(sizeof(int)))) {}
  ~CudaPlaneDevice() override { device_.release(bad_); }
  CudaPlaneDevice(const CudaPlaneDevice&) = delete;
  CudaPlaneDevice& operator=(const CudaPlaneDevice&) = delete;

  [[nodiscard]] int register_memory() const override {
    const CudaDevice::DeviceLock lock(device_);
    return most_shared();
  }

  void trace_images(const RegisterStack& stack, float* records, int count) override {
    const CudaDevice::DeviceLock lock(device_);
    trace_register_images(stack, records, count, nullptr);
    check(cudaGetLastError(), "tracing images");
  }
  void sum_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                  int count, double* sums) override {
    const CudaDevice::DeviceLock lock(device_);
    sum_register_planes(stack, first, second, pairs, count, sums, nullptr);
    check(cudaGetLastError(), "planes in registers");
  }
  void sum_equal(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs, int count,
                 double* sums) override {
    const CudaDevice::DeviceLock lock(device_);
    sum_equal_positions(stack, first, second, pairs, count, sums, nullptr);
    check(cudaGetLastError(), "planes in registers");
  }
  void pool_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                   int count, float* parts) override {
    const CudaDevice::DeviceLock lock(device_);
    pool_register_planes(stack, first, second, pairs, count, parts, nullptr);
    check(cudaGetLastError(), "planes in registers");
  }

  void run_stage(const PlaneStageCall& call, Precision arithmetic) override {
    const CudaDevice::DeviceLock lock(device_);
    const TeamMemory memory(device_, stage_scratch(call, arithmetic));
    run_plane_stage(call, arithmetic, memory.get(), nullptr);
    check(cudaGetLastError(), "a stage of planes");
  }
  void run_packed(const PlaneStageCall& call, const PackedStack& stack) override {
    const CudaDevice::DeviceLock lock(device_);
    run_packed_stage(call, stack, nullptr);
    check(cudaGetLastError(), "packed planes");
  }
  int write(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored,
            const PlaneOutput& to) override {
    const CudaDevice::DeviceLock lock(device_);
    int bad = INT_MAX;
    device_.upload_bytes(&bad, sizeof bad, bad_);
    write_plane_values(values, pairs, count, row, col, mirrored, to, bad_, nullptr);
    check(cudaGetLastError(), "writing results");
    device_.download_bytes(bad_, sizeof bad, &bad);
    return bad == INT_MAX ? -1 : bad;
  }

 private:
  CudaDevice& device_;
  int* bad_;  ///< index of the first value that is not finite
};

}  // namespace

std::unique_ptr<PlaneDevice> make_cuda_plane_device(CudaDevice& device) {
  return std::make_unique<CudaPlaneDevice>(device);
}

}  // namespace widelimit::cuda
