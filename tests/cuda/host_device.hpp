#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>

namespace widelimit::cuda {
class Device;
}

namespace widelimit::test {

struct Transfers;

/// A device that is the processor; `fast_double` as in DeviceFacts, `transfers` counts what layers move.
[[nodiscard]] std::shared_ptr<cuda::Device> make_host_device(bool fast_double = true,
                                                             std::shared_ptr<Transfers> transfers = nullptr);

/// The CUDA engine over it: the same host code and the same steps of pairs, without a GPU. The algebra of the device is
/// that of the processor.
[[nodiscard]] std::unique_ptr<Engine> make_emulated_cuda_engine(bool fast_double = true,
                                                                std::shared_ptr<Transfers> transfers = nullptr);

}  // namespace widelimit::test
