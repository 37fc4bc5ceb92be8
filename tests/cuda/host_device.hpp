#pragma once

#include "widelimit/engine/engine.hpp"

#include <cstdint>
#include <memory>

namespace widelimit::cuda {
class Device;
}

namespace widelimit::test {

struct Transfers;

/// An emulated device, which runs on the CPU.
struct EmulatedDevice {
  std::size_t memory = std::size_t{1} << 40;       ///< bytes
  std::int64_t team_bytes = 4096;                  ///< see PlaceDevice::team_bytes
  std::shared_ptr<Transfers> transfers = nullptr;  ///< counts transfers of layers
};
[[nodiscard]] std::shared_ptr<cuda::Device> make_host_device(const EmulatedDevice& as = {});
[[nodiscard]] std::unique_ptr<cuda::Device> open_host_device(std::size_t memory);

/// The CUDA engine on an emulated device: the same host code and the same steps on pairs, without a GPU. The device
/// uses the algebra of the CPU.
[[nodiscard]] std::unique_ptr<Engine> make_emulated_cuda_engine(const EmulatedDevice& as = {}, int threads = 1);

}  // namespace widelimit::test
