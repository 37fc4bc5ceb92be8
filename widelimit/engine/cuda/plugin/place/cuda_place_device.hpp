#pragma once

#include "widelimit/engine/cuda/place/place_device.hpp"
#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include <memory>

namespace widelimit::cuda {

/// PlaceDevice on a CUDA device, which must outlive it. Launches use the default stream, which synchronizes with the
/// streams of the device.
[[nodiscard]] std::unique_ptr<PlaceDevice> make_cuda_place_device(CudaDevice& device);

}  // namespace widelimit::cuda
