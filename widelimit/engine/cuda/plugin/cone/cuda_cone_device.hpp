#pragma once

#include "widelimit/engine/cuda/cone/cone_device.hpp"
#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include <memory>

namespace widelimit::cuda {

/// ConeDevice on a CUDA device, which must outlive it. Launches use the default stream, which synchronizes with the
/// streams of the device.
[[nodiscard]] std::unique_ptr<ConeDevice> make_cuda_cone_device(CudaDevice& device);

}  // namespace widelimit::cuda
