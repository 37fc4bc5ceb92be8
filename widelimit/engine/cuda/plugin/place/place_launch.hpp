#pragma once

#include "widelimit/engine/cuda/place/place_device.hpp"

#include <cuda_runtime_api.h>

/// Launches of PlaceDevice; each returns its launch error.
namespace widelimit::cuda {

cudaError_t launch_place_teams(const PlaceCall& call, Precision arithmetic, std::int32_t begin, std::int32_t end,
                               std::int64_t bytes, cudaStream_t stream);
cudaError_t launch_place_pass(const PlaceCall& call, const PlacePass& pass, Precision arithmetic, std::int32_t begin,
                              std::int32_t end, std::int64_t elements, cudaStream_t stream);
/// Sets `bad`, in device memory, to the smallest code of an overflowing entry. [write_place, place_run.hpp]
cudaError_t launch_place_write(const PlaceWrite& write, unsigned long long* bad, cudaStream_t stream);

}  // namespace widelimit::cuda
