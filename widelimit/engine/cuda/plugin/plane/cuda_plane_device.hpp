#pragma once

#include "widelimit/engine/cuda/plane/plane_device.hpp"
#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include <memory>

namespace widelimit::cuda {

/// Planes on a device, which must outlive it. Launches go to the default stream, which waits for the streams of the
/// device and they for it.
[[nodiscard]] std::unique_ptr<PlaneDevice> make_cuda_plane_device(CudaDevice& device);

}  // namespace widelimit::cuda
