#pragma once

#include "widelimit/engine/cuda/plane/register_stack.hpp"
#include "widelimit/engine/cuda/plugin/plane/register_plane.cuh"

/// Image tables read by register stacks.
namespace widelimit::cuda {

constexpr int table_vectors = plane_places / 4;  ///< float4 of one table
constexpr int row_vectors = plane_side / 4;

/// Sets weights[l] to 1 for layers with a trained weight, else 0.
__device__ inline void read_trained(const RegisterStack& stack, float* weights) {
  for (int k = threadIdx.x; k < most_register_layers; k += blockDim.x) {
    weights[k] = (stack.trained >> k) & 1U ? 1.0F : 0.0F;
  }
}

__device__ inline std::size_t record_place(const RegisterStack& stack, int image) {
  return static_cast<std::size_t>(image) * stack.tables() * plane_places;
}

/// Offset of the row of the second image that is paired with row i of a lane.
template <bool Full>
struct RowOffset {
  int row, height;
  __device__ int operator()(int i) const {
    const int y = row + i;
    return (Full ? y % plane_side : (y < height ? y : y - height)) * row_vectors;
  }
};

/// Whether Σ may also be negative after the first layer.
inline bool signed_throughout(const RegisterStack& stack) { return stack.slope != 0.0F && stack.slope != -1.0F; }

}  // namespace widelimit::cuda
