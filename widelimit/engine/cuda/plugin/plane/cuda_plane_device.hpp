#pragma once

#include "widelimit/engine/cuda/plane/plane_device.hpp"

#include <memory>

namespace widelimit::cuda {

/// Planes on the current device of this thread, through the CUDA runtime. Error{resource} where memory does not
/// suffice.
[[nodiscard]] std::unique_ptr<PlaneDevice> make_cuda_plane_device();

}  // namespace widelimit::cuda
