#pragma once

#include "widelimit/engine/engine.hpp"

#include <cstdint>
#include <memory>

namespace widelimit::cuda {
class Device;
}

namespace widelimit::test {

constexpr std::size_t emulated_memory = std::size_t{1} << 40;
constexpr std::int64_t default_team_bytes = 4096;

/// A device that is the processor, with so many bytes of memory; `fast_double` as in DeviceFacts, `team_bytes` as in
/// PlaceDevice.
[[nodiscard]] std::shared_ptr<cuda::Device> make_host_device(bool fast_double = true,
                                                             std::size_t memory = emulated_memory,
                                                             std::int64_t team_bytes = default_team_bytes);
[[nodiscard]] std::unique_ptr<cuda::Device> open_host_device(std::size_t memory);

/// The CUDA engine over it: the same host code and the same steps of pairs, without a GPU. The algebra of the device is
/// that of the processor.
[[nodiscard]] std::unique_ptr<Engine> make_emulated_cuda_engine(bool fast_double = true,
                                                                std::size_t memory = emulated_memory, int threads = 1);

}  // namespace widelimit::test
