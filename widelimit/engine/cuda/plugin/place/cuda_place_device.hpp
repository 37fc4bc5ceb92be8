#pragma once

#include "widelimit/engine/cuda/place/place_device.hpp"
#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include <memory>

namespace widelimit::cuda {

/// Pairs of places on a device, which must outlive it. Launches go to the default stream, which waits for the streams
/// of the device and they for it.
[[nodiscard]] std::unique_ptr<PlaceDevice> make_cuda_place_device(CudaDevice& device);

}  // namespace widelimit::cuda
