#pragma once

#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include <memory>

namespace widelimit::cuda {

/// Layers on a device, which must outlive them. All work runs on its main stream.
template <std::floating_point T>
[[nodiscard]] std::unique_ptr<LayerPasses<T>> make_cuda_layers(CudaDevice& device);
[[nodiscard]] std::unique_ptr<EnclosurePasses> make_cuda_enclosures(CudaDevice& device);

}  // namespace widelimit::cuda
