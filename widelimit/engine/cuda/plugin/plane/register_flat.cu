#include "widelimit/engine/cuda/plugin/plane/register_tables.cuh"
#include "widelimit/engine/cuda/plugin/plane/shared_memory.hpp"

#include <cuda_pipeline.h>

namespace widelimit::cuda {

namespace {

/// Displacement 0: a block processes 4 × 4 pairs, one per warp, and streams the image tables through shared memory.
template <bool AllSigned, Pairing Y, Pairing X>
__global__ void __launch_bounds__(32 * flat_edge * flat_edge, 1)
    sum_flat(const RegisterStack stack, const RectifierConstants constants, const float* first, const float* second,
             const ImagePair* pairs, double* sums) {
  extern __shared__ float4 memory[];
  __shared__ float trained[most_register_layers];
  read_trained(stack, trained);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const ImagePair* square = pairs + blockIdx.x * flat_edge * flat_edge;
  const auto start = [&](int table) {
    float4* to = memory + table % flat_buffers * 2 * flat_edge * table_vectors;
    for (int k = threadIdx.x; k < 2 * flat_edge * table_vectors; k += blockDim.x) {
      const int image = k / table_vectors;
      const float* from = image < flat_edge ? first + record_place(stack, square[image * flat_edge].first)
                                            : second + record_place(stack, square[image - flat_edge].second);
      __pipeline_memcpy_async(to + k, reinterpret_cast<const float4*>(from + table * plane_places) + k % table_vectors,
                              sizeof(float4));
    }
  };
  const PlaneLinks links = links_of(lane, stack.height, stack.width, 0, 0);
  const int row = lane / 8 * plane_rows;
  const RowOffset<true> offset{row, plane_side};
  RegisterPlane plane;
  clear(plane);
  for (int table = 0; table < flat_buffers - 1; ++table) {
    if (table < stack.tables()) start(table);
    __pipeline_commit();
  }
  for (int table = 0; table < stack.tables(); ++table) {
    __pipeline_wait_prior(flat_buffers - 2);
    __syncthreads();
    if (table + flat_buffers - 1 < stack.tables()) start(table + flat_buffers - 1);
    __pipeline_commit();
    const float4* at = memory + table % flat_buffers * 2 * flat_edge * table_vectors;
    const float4* p = at + warp / flat_edge * table_vectors + row * row_vectors + lane % 8;
    const float4* q = at + (flat_edge + warp % flat_edge) * table_vectors + lane % 8;
    const int layer = table - stack.channels;
    if (layer < 0) {
      add_channel(p, q, offset, plane);
      continue;
    }
    if (AllSigned || layer == 0) {
      bend_plane<true, Y, X>(constants, links, p, q, offset, trained[layer], plane);
    } else {
      bend_plane<false, Y, X>(constants, links, p, q, offset, trained[layer], plane);
    }
    if (layer % register_rescale_period == register_rescale_period - 1) {
      scale(static_cast<float>(register_rescale), plane);
    }
  }
  const float sigma = sum_of(plane.state[0]);
  const float theta = sum_of(plane.state[1]);
  if (lane < 2) {
    sums[2 * (blockIdx.x * flat_edge * flat_edge + warp) + lane] = static_cast<double>(lane == 0 ? sigma : theta);
  }
}

}  // namespace

void sum_equal_positions(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                         int count, double* sums, void* stream) {
  const RectifierConstants constants = constants_of(static_cast<double>(stack.slope));
  const bool even = stack.height % 2 == 0 && stack.width % 2 == 0;
  const auto kernel = signed_throughout(stack) || !even ? sum_flat<true, Pairing::none, Pairing::none>
                                                        : sum_flat<false, Pairing::even, Pairing::even>;
  allow_shared(kernel, flat_bytes);
  constexpr int square = flat_edge * flat_edge;
  kernel<<<count / square, 32 * square, flat_bytes, static_cast<cudaStream_t>(stream)>>>(stack, constants, first,
                                                                                         second, pairs, sums);
}

}  // namespace widelimit::cuda
