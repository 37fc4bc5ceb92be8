#pragma once

#include "widelimit/engine/engine.hpp"

#include <cstdint>
#include <memory>

namespace widelimit::cuda {
class Device;
class PlaneDevice;
class PlaceDevice;
class ConeDevice;
}  // namespace widelimit::cuda

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

/// Its planes: the same steps as on a device, run sequentially; without register stacks.
[[nodiscard]] std::unique_ptr<cuda::PlaneDevice> make_host_planes();
/// Its pairs of places; states of up to `team_bytes` are processed by a team.
[[nodiscard]] std::unique_ptr<cuda::PlaceDevice> make_host_places(std::int64_t team_bytes);
/// Its sums of certificates, with the same entries and the same binary trees as on a device.
[[nodiscard]] std::unique_ptr<cuda::ConeDevice> make_host_cones();

/// The CUDA engine on an emulated device: the same host code and the same steps on pairs, without a GPU. The device
/// uses the algebra of the CPU.
[[nodiscard]] std::unique_ptr<Engine> make_emulated_cuda_engine(const EmulatedDevice& as = {}, int threads = 1);

}  // namespace widelimit::test
