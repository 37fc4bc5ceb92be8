#pragma once

#include "widelimit/engine/cuda/cone/cone_device.hpp"
#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include <memory>

namespace widelimit::cuda {

/// Sums of certificates on a device, which must outlive it. Launches go to the default stream, which waits for the
/// streams of the device and they for it.
[[nodiscard]] std::unique_ptr<ConeDevice> make_cuda_cone_device(CudaDevice& device);

}  // namespace widelimit::cuda
