#include "widelimit/engine/cuda/plugin/cone/cone_launch.hpp"
#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

namespace widelimit::cuda {

namespace {

class CudaConeDevice final : public ConeDevice {
 public:
  explicit CudaConeDevice(CudaDevice& device) : device_(device) {}

  void bound_sums(const ConeBoundCall& call) override { run(launch_bound_sums, call, "bounds of kernel entries"); }
  void entries(const ConeEntryCall& call) override { run(launch_entries, call, "kernel entries"); }
  void slopes(const ConeSlopeCall& call) override { run(launch_slopes, call, "slopes of kernel entries"); }
  void residuals(const ConeResidualCall& call) override { run(launch_residuals, call, "residuals of samples"); }
  void residual_rows(const ConeRowCall& call) override { run(launch_residual_rows, call, "residuals of samples"); }
  void chain_entries(const ChainEntryCall& call) override {
    run(launch_chain_entries, call, "enclosures of kernel entries");
  }
  void chain_sums(const ChainSumCall& call) override { run(launch_chain_sums, call, "sums of kernel entries"); }
  void chain_changes(const ChainChangeCall& call) override {
    run(launch_chain_changes, call, "enclosures of changes of kernel entries");
  }
  void chain_slopes(const ChainSlopeCall& call) override { run(launch_chain_slopes, call, "slopes of kernel entries"); }

 private:
  /// Launches and waits for completion, since the caller may free the inputs as soon as the call returns.
  template <typename Call>
  void run(cudaError_t (*launch)(const Call&, cudaStream_t), const Call& call, const char* what) {
    const CudaDevice::DeviceLock lock(device_);
    check(launch(call, nullptr), what);
    check(cudaStreamSynchronize(nullptr), what);
  }

  CudaDevice& device_;
};

}  // namespace

std::unique_ptr<ConeDevice> make_cuda_cone_device(CudaDevice& device) {
  return std::make_unique<CudaConeDevice>(device);
}

}  // namespace widelimit::cuda
