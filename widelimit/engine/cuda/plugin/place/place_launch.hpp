#pragma once

#include "widelimit/engine/cuda/place/place_device.hpp"

#include <cuda_runtime_api.h>

/// The launches behind PlaceDevice; each returns the error of its launch.
namespace widelimit::cuda {

cudaError_t launch_place_teams(const PlaceCall& call, Precision arithmetic, std::int32_t begin, std::int32_t end,
                               std::int64_t bytes, cudaStream_t stream);
cudaError_t launch_place_pass(const PlaceCall& call, const PlacePass& pass, Precision arithmetic, std::int32_t begin,
                              std::int32_t end, std::int64_t elements, cudaStream_t stream);
/// `bad`, in device memory, becomes the least code of an entry that leaves its range. [write_place, place_run.hpp]
cudaError_t launch_place_write(const PlaceWrite& write, unsigned long long* bad, cudaStream_t stream);

}  // namespace widelimit::cuda
