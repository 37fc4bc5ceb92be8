#pragma once

#include "widelimit/engine/cuda/plugin/plane/register_tables.cuh"
#include "widelimit/engine/cuda/plugin/plane/shared_memory.hpp"

#include <cuda_pipeline.h>

/// The planes of one horizontal displacement of a pair of images.
namespace widelimit::cuda {

/// Registers limit a multiprocessor to 16 warps: one block, which can use all shared memory.
constexpr int warps = 16;

template <auto Value>
struct As {
  static constexpr auto value = Value;
};

/// The tables of a pair of images in shared memory.
struct Tables {
  float4* first;
  float4* second;
  int resident;  ///< tables per image in shared memory at a time
};

/// Starts the asynchronous copy of tables [begin, begin + count) of both images; rotates the columns of the second by
/// dx, so that vector loads stay aligned.
__device__ inline void load_tables(const RegisterStack& stack, const float* first, const float* second, int begin,
                                   int count, int dx, const Tables& tables) {
  const auto* from = reinterpret_cast<const float4*>(first + begin * plane_places);
  for (int k = threadIdx.x; k < count * table_vectors; k += blockDim.x) {
    __pipeline_memcpy_async(tables.first + k, from + k, sizeof(float4));
  }
  const float* rotated = second + begin * plane_places;
  auto* to = reinterpret_cast<float*>(tables.second);
  const int x = threadIdx.x % plane_side;
  const int source = x < stack.width ? (x + dx < stack.width ? dx : dx - stack.width) : 0;
#pragma unroll 4
  for (int k = threadIdx.x; k < count * plane_places; k += blockDim.x) {
    __pipeline_memcpy_async(to + k, rotated + k + source, sizeof(float));
  }
  __pipeline_commit();
}

/// Runs all layers of one plane. `load(k)` loads tables from k on; all warps of the block call it together.
template <bool AllSigned, bool Full, Pairing Y, Pairing X, typename Load>
__device__ __forceinline__ void run_layers(const RegisterStack& stack, const RectifierConstants& constants,
                                           const Tables& tables, const float* trained, int dy, int dx, const Load& load,
                                           RegisterPlane& plane) {
  const int lane = threadIdx.x % 32;
  const int row = lane / 8 * plane_rows;
  const RowOffset<Full> offset{row + dy, stack.height};
  const PlaneLinks links = links_of(lane, stack.height, stack.width, dy, dx);
  const float4* first = tables.first + row * row_vectors + lane % 8;
  const float4* second = tables.second + lane % 8;
  clear(plane);
  for (int c = 0; c < stack.channels; ++c) {
    add_channel(first + c * table_vectors, second + c * table_vectors, offset, plane);
  }
  int slot = stack.channels;
  bend_plane<true, Y, X, row_vectors, true>(constants, links, first + slot * table_vectors,
                                            second + slot * table_vectors, offset, trained[0], plane);
  for (int layer = 1; layer < stack.layers; ++layer) {
    if (++slot == tables.resident) {
      load(stack.channels + layer);
      slot = 0;
    }
    bend_plane<AllSigned, Y, X>(constants, links, first + slot * table_vectors, second + slot * table_vectors, offset,
                                trained[layer], plane);
    if (layer % register_rescale_period == register_rescale_period - 1) {
      scale(static_cast<float>(register_rescale), plane);
    }
  }
}

/// Processes one horizontal displacement of one pair by a block. Its warps share the rotated tables; each processes
/// vertical displacements, even ones first, so that all warps execute the same instructions. All warps call
/// `use(dy, inside, plane)` together; if not `inside`, the plane duplicates that of another warp.
template <bool AllSigned, bool Full, typename Use>
__device__ __forceinline__ void run_column(const RegisterStack& stack, const RectifierConstants& constants,
                                           const Tables& tables, const float* x1, const float* x2, int dx,
                                           const Use& use) {
  __shared__ float trained[most_register_layers];
  read_trained(stack, trained);
  const auto load = [&](int begin) {
    __syncthreads();
    load_tables(stack, x1, x2, begin, min(tables.resident, stack.tables() - begin), dx, tables);
    __pipeline_wait_prior(0);
    __syncthreads();
  };
  bool loaded = false;
  for (int parity = 0; parity < 2; ++parity) {
    for (int batch = parity; batch < stack.height; batch += 2 * warps) {
      const int dy = batch + 2 * static_cast<int>(threadIdx.x / 32);
      const bool inside = dy < stack.height;
      if (!loaded || stack.tables() > tables.resident) load(0);
      loaded = true;
      RegisterPlane plane;
      const auto run = [&](auto y, auto x) {
        run_layers<AllSigned, Full, decltype(y)::value, decltype(x)::value>(stack, constants, tables, trained,
                                                                            inside ? dy : parity, dx, load, plane);
      };
      if constexpr (!Full) {
        run(As<Pairing::none>(), As<Pairing::none>());
      } else if (parity == 0) {
        if (dx % 2 == 0) {
          run(As<Pairing::even>(), As<Pairing::even>());
        } else {
          run(As<Pairing::even>(), As<Pairing::odd>());
        }
      } else if (dx % 2 == 0) {
        run(As<Pairing::odd>(), As<Pairing::even>());
      } else {
        run(As<Pairing::odd>(), As<Pairing::odd>());
      }
      use(inside ? dy : parity, inside, plane);
    }
  }
}

}  // namespace widelimit::cuda
