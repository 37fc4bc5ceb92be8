#include "widelimit/engine/cuda/cone/chain_element.hpp"
#include "widelimit/engine/cuda/plugin/cone/cone_launch.hpp"

namespace widelimit::cuda {

namespace {

/// Enclosures need some hundred values per pair: smaller blocks leave more registers to each thread.
constexpr int pair_threads = 128;

__global__ void __launch_bounds__(pair_threads) entries_kernel(const ChainEntryCall call) {
  const Index place = static_cast<Index>(blockIdx.x) * pair_threads + threadIdx.x;
  if (place < call.pairs.balls * call.pairs.support) write_entry(call, place);
}

__global__ void __launch_bounds__(pair_threads) changes_kernel(const ChainChangeCall call) {
  const Index place = static_cast<Index>(blockIdx.x) * pair_threads + threadIdx.x;
  if (place < call.pairs.balls * call.pairs.support) write_change(call, place);
}

/// One block per sum; partial sums are reduced as a binary tree with outward rounding.
__global__ void __launch_bounds__(cone_parts) sums_kernel(const ChainSumCall call) {
  __shared__ double low[cone_parts], high[cone_parts];
  const int part = static_cast<int>(threadIdx.x);
  const ConeSumView request = call.requests[blockIdx.x];
  Interval sum;
  for (Index i = part; i < call.support; i += cone_parts) sum = add_enclosed(call, request, i, sum);
  low[part] = sum.low, high[part] = sum.high;
  __syncthreads();
  for (int half = cone_parts / 2; half > 0; half /= 2) {
    if (part < half) {
      sum = sum + Interval{low[part + half], high[part + half]};
      low[part] = sum.low, high[part] = sum.high;
    }
    __syncthreads();
  }
  if (part == 0) call.to[blockIdx.x] = sum;
}

/// One block per row.
__global__ void __launch_bounds__(cone_parts) slopes_kernel(const ChainSlopeCall call) {
  __shared__ double values[cone_parts], along[cone_parts];
  const int part = static_cast<int>(threadIdx.x);
  ChainSlopeSums sums;
  for (Index i = part; i < call.support; i += cone_parts) add_chain_slope(call, blockIdx.x, i, sums);
  values[part] = sums.value, along[part] = sums.along;
  __syncthreads();
  for (int half = cone_parts / 2; half > 0; half /= 2) {
    if (part < half) values[part] += values[part + half], along[part] += along[part + half];
    __syncthreads();
  }
  if (part == 0) call.values[blockIdx.x] = values[0], call.along[blockIdx.x] = along[0];
}

unsigned blocks_for(const ChainPairs& pairs) {
  return static_cast<unsigned>((pairs.balls * pairs.support + pair_threads - 1) / pair_threads);
}

}  // namespace

cudaError_t launch_chain_entries(const ChainEntryCall& call, cudaStream_t stream) {
  if (call.pairs.balls * call.pairs.support == 0) return cudaSuccess;
  entries_kernel<<<blocks_for(call.pairs), pair_threads, 0, stream>>>(call);
  return cudaGetLastError();
}

cudaError_t launch_chain_sums(const ChainSumCall& call, cudaStream_t stream) {
  if (call.sums == 0) return cudaSuccess;
  sums_kernel<<<static_cast<unsigned>(call.sums), cone_parts, 0, stream>>>(call);
  return cudaGetLastError();
}

cudaError_t launch_chain_changes(const ChainChangeCall& call, cudaStream_t stream) {
  if (call.pairs.balls * call.pairs.support == 0) return cudaSuccess;
  changes_kernel<<<blocks_for(call.pairs), pair_threads, 0, stream>>>(call);
  return cudaGetLastError();
}

cudaError_t launch_chain_slopes(const ChainSlopeCall& call, cudaStream_t stream) {
  if (call.rows == 0) return cudaSuccess;
  slopes_kernel<<<static_cast<unsigned>(call.rows), cone_parts, 0, stream>>>(call);
  return cudaGetLastError();
}

}  // namespace widelimit::cuda
