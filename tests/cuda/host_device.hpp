#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>

namespace widelimit::test {

/// The CUDA engine over a device that is the processor: the same host code and the same steps of pairs, without a GPU.
/// The algebra of the device is that of the processor; `fast_double` as in DeviceFacts.
[[nodiscard]] std::unique_ptr<Engine> make_emulated_cuda_engine(bool fast_double = true);

}  // namespace widelimit::test
