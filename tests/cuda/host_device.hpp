#pragma once

#include "widelimit/engine/engine.hpp"

#include <cstdint>
#include <memory>

namespace widelimit::cuda {
class Device;
}

namespace widelimit::test {

struct Transfers;

/// A device that is the processor.
struct EmulatedDevice {
  std::size_t memory = std::size_t{1} << 40;       ///< bytes
  std::int64_t team_bytes = 4096;                  ///< as in PlaceDevice
  std::shared_ptr<Transfers> transfers = nullptr;  ///< counts what layers move
};
[[nodiscard]] std::shared_ptr<cuda::Device> make_host_device(const EmulatedDevice& as = {});
[[nodiscard]] std::unique_ptr<cuda::Device> open_host_device(std::size_t memory);

/// The CUDA engine over it: the same host code and the same steps of pairs, without a GPU. The algebra of the device is
/// that of the processor.
[[nodiscard]] std::unique_ptr<Engine> make_emulated_cuda_engine(const EmulatedDevice& as = {}, int threads = 1);

}  // namespace widelimit::test
