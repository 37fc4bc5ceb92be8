#include "widelimit/engine/cuda/plugin/cuda_device.hpp"
#include "widelimit/engine/cuda/plugin/place/place_launch.hpp"
#include "widelimit/engine/cuda/plugin/plane/shared_memory.hpp"

namespace widelimit::cuda {

namespace {

constexpr unsigned long long in_range = ~0ULL;

class CudaPlaceDevice final : public PlaceDevice {
 public:
  explicit CudaPlaceDevice(CudaDevice& device)
      : device_(device), bad_(static_cast<unsigned long long*>(device.allocate(sizeof(unsigned long long)))) {}
  ~CudaPlaceDevice() override { device_.release(bad_); }
  CudaPlaceDevice(const CudaPlaceDevice&) = delete;
  CudaPlaceDevice& operator=(const CudaPlaceDevice&) = delete;

  [[nodiscard]] std::int64_t team_bytes() const override {
    const CudaDevice::DeviceLock lock(device_);
    return most_shared();
  }
  void run_teams(const PlaceCall& call, Precision arithmetic, std::int32_t begin, std::int32_t end,
                 std::int64_t bytes) override {
    const CudaDevice::DeviceLock lock(device_);
    check(launch_place_teams(call, arithmetic, begin, end, bytes, nullptr), "pairs of places");
  }
  void run_pass(const PlaceCall& call, const PlacePass& pass, Precision arithmetic, std::int32_t begin,
                std::int32_t end, std::int64_t elements) override {
    const CudaDevice::DeviceLock lock(device_);
    check(launch_place_pass(call, pass, arithmetic, begin, end, elements, nullptr), "a pass over pairs of places");
  }
  PlaceOverflow write(const PlaceWrite& write) override {
    const CudaDevice::DeviceLock lock(device_);
    unsigned long long bad = in_range;
    device_.upload_bytes(&bad, sizeof bad, bad_);
    check(launch_place_write(write, bad_, nullptr), "writing results");
    device_.download_bytes(bad_, sizeof bad, &bad);
    if (bad == in_range) return {};
    return {static_cast<Index>(bad >> 32U), static_cast<Index>(bad & 0xffffffffU)};
  }

 private:
  CudaDevice& device_;
  unsigned long long* bad_;  ///< code of the first entry that is not finite
};

}  // namespace

std::unique_ptr<PlaceDevice> make_cuda_place_device(CudaDevice& device) {
  return std::make_unique<CudaPlaceDevice>(device);
}

}  // namespace widelimit::cuda
