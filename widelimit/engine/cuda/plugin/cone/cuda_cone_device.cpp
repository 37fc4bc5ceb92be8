#include "widelimit/engine/cuda/plugin/cone/cuda_cone_device.hpp"

#include "widelimit/engine/cuda/plugin/cone/cone_launch.hpp"

namespace widelimit::cuda {

namespace {

class CudaConeDevice final : public ConeDevice {
 public:
  explicit CudaConeDevice(CudaDevice& device) : device_(device) {}

  void bound_sums(const ConeBoundCall& call) override {
    const CudaDevice::Turn turn(device_);
    finish(launch_bound_sums(call, nullptr), "bounds of kernel entries");
  }
  void entries(const ConeEntryCall& call) override {
    const CudaDevice::Turn turn(device_);
    finish(launch_entries(call, nullptr), "kernel entries");
  }
  void slopes(const ConeSlopeCall& call) override {
    const CudaDevice::Turn turn(device_);
    finish(launch_slopes(call, nullptr), "slopes of kernel entries");
  }
  void residuals(const ConeResidualCall& call) override {
    const CudaDevice::Turn turn(device_);
    finish(launch_residuals(call, nullptr), "residuals of samples");
  }
  void residual_rows(const ConeRowCall& call) override {
    const CudaDevice::Turn turn(device_);
    finish(launch_residual_rows(call, nullptr), "residuals of samples");
  }
  void chain_entries(const ChainEntryCall& call) override {
    const CudaDevice::Turn turn(device_);
    finish(launch_chain_entries(call, nullptr), "enclosures of kernel entries");
  }
  void chain_sums(const ChainSumCall& call) override {
    const CudaDevice::Turn turn(device_);
    finish(launch_chain_sums(call, nullptr), "sums of kernel entries");
  }
  void chain_changes(const ChainChangeCall& call) override {
    const CudaDevice::Turn turn(device_);
    finish(launch_chain_changes(call, nullptr), "enclosures of changes of kernel entries");
  }
  void chain_slopes(const ChainSlopeCall& call) override {
    const CudaDevice::Turn turn(device_);
    finish(launch_chain_slopes(call, nullptr), "slopes of kernel entries");
  }

 private:
  /// What a launch reads may be given back as soon as the call returns.
  static void finish(cudaError_t launched, const char* what) {
    check(launched, what);
    check(cudaStreamSynchronize(nullptr), what);
  }

  CudaDevice& device_;
};

}  // namespace

std::unique_ptr<ConeDevice> make_cuda_cone_device(CudaDevice& device) {
  return std::make_unique<CudaConeDevice>(device);
}

}  // namespace widelimit::cuda
