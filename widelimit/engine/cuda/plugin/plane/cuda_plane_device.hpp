#pragma once

#include "widelimit/engine/cuda/plane/plane_device.hpp"
#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include <memory>

namespace widelimit::cuda {

/// PlaneDevice on a CUDA device, which must outlive it. Launches use the default stream, which synchronizes with the
/// streams of the device.
[[nodiscard]] std::unique_ptr<PlaneDevice> make_cuda_plane_device(CudaDevice& device);

}  // namespace widelimit::cuda
