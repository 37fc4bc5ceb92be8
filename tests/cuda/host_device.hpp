#pragma once

#include "widelimit/engine/engine.hpp"

#include <cstdint>
#include <memory>

namespace widelimit::cuda {
class Device;
}

namespace widelimit::test {

/// A device that is the processor; `fast_double` as in DeviceFacts, `team_bytes` as in PlaceDevice.
[[nodiscard]] std::shared_ptr<cuda::Device> make_host_device(bool fast_double = true, std::int64_t team_bytes = 4096);

/// The CUDA engine over it: the same host code and the same steps of pairs, without a GPU. The algebra of the device is
/// that of the processor.
[[nodiscard]] std::unique_ptr<Engine> make_emulated_cuda_engine(bool fast_double = true);

}  // namespace widelimit::test
