#include "widelimit/engine/cuda/cone/cone_entry.hpp"
#include "widelimit/engine/cuda/plugin/cone/cone_launch.hpp"

namespace widelimit::cuda {

namespace {

constexpr int warp = 32;
constexpr int row_threads = 256;

/// Sums one value per thread of a block as a binary tree; bitwise reproducible.
__device__ double tree_sum(double value) {
  __shared__ double parts[cone_parts];
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int half = cone_parts / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  const double sum = parts[0];
  __syncthreads();
  return sum;
}

/// One block per sum.
__global__ void __launch_bounds__(cone_parts) bound_sums_kernel(const ConeBoundCall call) {
  const ConeSumView request = call.requests[blockIdx.x];
  double sum = 0;
  for (Index i = threadIdx.x; i < call.support; i += cone_parts) sum = add_bound(call, request, i, sum);
  sum = tree_sum(sum);
  if (threadIdx.x == 0) call.to[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(row_threads) entries_kernel(const ConeEntryCall call) {
  const Index place = static_cast<Index>(blockIdx.x) * row_threads + threadIdx.x;
  if (place >= call.rows * call.support) return;
  call.to[place] = cone_entry(call, place / call.support, place % call.support);
}

/// One block per row.
__global__ void __launch_bounds__(cone_parts) slopes_kernel(const ConeSlopeCall call) {
  const Index k = blockIdx.x;
  ConeSlopeSums sums;
  for (Index i = threadIdx.x; i < call.support; i += cone_parts) add_slope(call, k, i, sums);
  const double value = tree_sum(sums.value);
  const double along = tree_sum(sums.along);
  if (threadIdx.x != 0) return;
  const double norm = call.norms[k];
  call.values[k] = norm * value;
  call.along[k] = norm > 0 ? along / norm : 0;
}

__device__ double warp_sum(double value) {
  for (int half = warp / 2; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffU, value, half);
  return value;
}

/// One warp per sample and ball.
__global__ void __launch_bounds__(row_threads) residuals_kernel(const ConeResidualCall call) {
  const Index place = (static_cast<Index>(blockIdx.x) * row_threads + threadIdx.x) / warp;
  if (place >= call.balls * call.support) return;
  const Index k = place / call.support, i = place % call.support;
  const int lane = static_cast<int>(threadIdx.x) % warp;
  double inner = 0;
  for (Index j = lane; j < call.features; j += warp) inner = add_inner(call, k, i, j, inner);
  inner = warp_sum(inner);
  const double t = place_of(call, k, i, inner);
  double reach = 0;
  for (Index j = lane; j < call.features; j += warp) reach = add_reach(call, k, i, j, t, reach);
  reach = warp_sum(reach);
  if (lane != 0) return;
  call.inner[place] = inner;
  call.reach[place] = call.euclidean ? std::sqrt(reach) : reach;
}

__global__ void __launch_bounds__(row_threads) residual_rows_kernel(const ConeRowCall call) {
  const Index dimension = call.features + 1;
  const Index place = static_cast<Index>(blockIdx.x) * row_threads + threadIdx.x;
  if (place >= call.support * dimension) return;
  call.rows[place] = residual_entry(call, place / dimension, place % dimension);
}

unsigned blocks_for(Index count) { return static_cast<unsigned>((count + row_threads - 1) / row_threads); }

}  // namespace

cudaError_t launch_bound_sums(const ConeBoundCall& call, cudaStream_t stream) {
  if (call.sums == 0) return cudaSuccess;
  bound_sums_kernel<<<static_cast<unsigned>(call.sums), cone_parts, 0, stream>>>(call);
  return cudaGetLastError();
}

cudaError_t launch_entries(const ConeEntryCall& call, cudaStream_t stream) {
  if (call.rows * call.support == 0) return cudaSuccess;
  entries_kernel<<<blocks_for(call.rows * call.support), row_threads, 0, stream>>>(call);
  return cudaGetLastError();
}

cudaError_t launch_slopes(const ConeSlopeCall& call, cudaStream_t stream) {
  if (call.rows == 0) return cudaSuccess;
  slopes_kernel<<<static_cast<unsigned>(call.rows), cone_parts, 0, stream>>>(call);
  return cudaGetLastError();
}

cudaError_t launch_residuals(const ConeResidualCall& call, cudaStream_t stream) {
  if (call.balls * call.support == 0) return cudaSuccess;
  residuals_kernel<<<blocks_for(call.balls * call.support * warp), row_threads, 0, stream>>>(call);
  return cudaGetLastError();
}

cudaError_t launch_residual_rows(const ConeRowCall& call, cudaStream_t stream) {
  if (call.support == 0) return cudaSuccess;
  residual_rows_kernel<<<blocks_for(call.support * (call.features + 1)), row_threads, 0, stream>>>(call);
  return cudaGetLastError();
}

}  // namespace widelimit::cuda
