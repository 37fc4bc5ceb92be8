#pragma once

#include "widelimit/engine/cuda/cone/cone_device.hpp"

#include <cuda_runtime.h>

/// Launches of the ConeDevice kernels on a stream; each returns its launch error.
namespace widelimit::cuda {

cudaError_t launch_bound_sums(const ConeBoundCall& call, cudaStream_t stream);
cudaError_t launch_entries(const ConeEntryCall& call, cudaStream_t stream);
cudaError_t launch_slopes(const ConeSlopeCall& call, cudaStream_t stream);
cudaError_t launch_residuals(const ConeResidualCall& call, cudaStream_t stream);
cudaError_t launch_residual_rows(const ConeRowCall& call, cudaStream_t stream);
cudaError_t launch_chain_entries(const ChainEntryCall& call, cudaStream_t stream);
cudaError_t launch_chain_sums(const ChainSumCall& call, cudaStream_t stream);
cudaError_t launch_chain_changes(const ChainChangeCall& call, cudaStream_t stream);
cudaError_t launch_chain_slopes(const ChainSlopeCall& call, cudaStream_t stream);

}  // namespace widelimit::cuda
