#include "widelimit/engine/cuda/plane/register_stack.hpp"
#include "widelimit/engine/cuda/plugin/plane/register_plane.cuh"
#include "widelimit/engine/cuda/plugin/plane/shared_memory.hpp"

#include <cuda_pipeline.h>

#include <algorithm>

namespace widelimit::cuda {

namespace {

constexpr int table_vectors = plane_places / 4;  ///< float4 of one table
constexpr int row_vectors = plane_side / 4;
/// Registers allow 16 warps on a multiprocessor: one block, which has all shared memory.
constexpr int warps = 16;

/// 1 for layers with a trained weight, else 0.
__device__ void read_trained(const RegisterStack& stack, float* weights) {
  for (int k = threadIdx.x; k < most_register_layers; k += blockDim.x) {
    weights[k] = (stack.trained >> k) & 1U ? 1.0F : 0.0F;
  }
}

template <auto Value>
struct As {
  static constexpr auto value = Value;
};

/// The tables of a pair of images in shared memory, and what the lanes of a warp read of them.
struct Tables {
  float4* first;
  float4* second;
  int resident;  ///< tables of each image that are there at a time
};

/// Starts to copy tables [begin, begin + count) of both images; columns of the second are rotated by dx, so that
/// vectors stay aligned.
__device__ void load_tables(const RegisterStack& stack, const float* first, const float* second, int begin, int count,
                            int dx, const Tables& tables) {
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

__device__ std::size_t record_place(const RegisterStack& stack, int image) {
  return static_cast<std::size_t>(image) * stack.tables() * plane_places;
}

/// Where the row of the second image is that row i of a lane pairs with.
template <bool Full>
struct RowOffset {
  int row, height;
  __device__ int operator()(int i) const {
    const int y = row + i;
    return (Full ? y % plane_side : (y < height ? y : y - height)) * row_vectors;
  }
};

/// All layers of one plane. `load(k)` brings tables k … for all warps of the block, which come here together.
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

/// A block takes one horizontal displacement of one pair: its warps share the rotated tables, each takes vertical
/// displacements, the even ones first, so that all run the same instructions. `use(dy, inside, plane)` is called by all
/// warps together; where not `inside`, the plane is another's.
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

template <bool AllSigned, bool Full>
__global__ void __launch_bounds__(32 * warps, 1)
    sum_planes(const RegisterStack stack, const RectifierConstants constants, int resident, const float* first,
               const float* second, const ImagePair* pairs, double* sums) {
  extern __shared__ float4 memory[];
  __shared__ double parts[2][warps];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const ImagePair pair = pairs[blockIdx.x / stack.width];
  if (lane < 2) parts[lane][warp] = 0;
  run_column<AllSigned, Full>(stack, constants, {memory, memory + resident * table_vectors, resident},
                              first + record_place(stack, pair.first), second + record_place(stack, pair.second),
                              blockIdx.x % stack.width, [&](int, bool inside, const RegisterPlane& plane) {
                                const float sigma = sum_of(plane.state[0]);
                                const float theta = sum_of(plane.state[1]);
                                if (inside && lane < 2) {
                                  parts[lane][warp] += static_cast<double>(lane == 0 ? sigma : theta);
                                }
                              });
  __syncthreads();
  if (threadIdx.x < 2) {
    double sum = 0;
    for (int w = 0; w < warps; ++w) sum += parts[threadIdx.x][w];
    sums[2 * blockIdx.x + threadIdx.x] = sum;
  }
}

constexpr int pooled_side = plane_side / 2;
constexpr int pooled_stride = pooled_side + 4;  ///< of rows: lanes of a warp then hit all banks
constexpr int pooled_plane = pooled_side * pooled_stride;

/// Pooled planes of the coarser grid, displacements modulo it, as they are summed up in shared memory: part, array,
/// displacement, row.
struct PooledPlanes {
  float* memory;

  __device__ float* row(int part, int m, int down, int y) const {
    return memory + ((part * 2 + m) * pooled_side + down) * pooled_plane + y * pooled_stride;
  }
  /// Adds or stores one row of each pair of rows, or the sum of `Both`. `Columns`: the same, 2 for both.
  template <int Rows, int Columns>
  __device__ __forceinline__ void put(const RegisterPlane& plane, int down, bool add) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int m = 0; m < 2; ++m) {
#pragma unroll
      for (int i = 0; i < plane_rows / 2; ++i) {
        const auto value = [&](int k) {
          const auto in_row = [&](int y) {
            const float(&row)[plane_cols] = plane.state[m][2 * i + y];
            return Columns == 2 ? row[2 * k] + row[2 * k + 1] : row[2 * k + Columns % 2];
          };
          return Rows == 2 ? in_row(0) + in_row(1) : in_row(Rows % 2);
        };
        float2 sum{value(0), value(1)};
        auto* to = reinterpret_cast<float2*>(row(Columns % 2, m, down, lane / 8 * (plane_rows / 2) + i)) + lane % 8;
        if (add) {
          const float2 before = *to;
          sum.x += before.x;
          sum.y += before.y;
        }
        *to = sum;
      }
    }
  }
};

/// An even displacement pairs rows of equal parity, and both rows of a pooled row stay together. An odd one 2D + 1
/// sends even rows to D and odd rows to D + 1. Columns likewise.
template <bool AllSigned, bool Full>
__global__ void __launch_bounds__(32 * warps, 1)
    pool_planes(const RegisterStack stack, const RectifierConstants constants, int resident, const float* first,
                const float* second, const ImagePair* pairs, float* parts) {
  extern __shared__ float4 memory[];
  const ImagePair pair = pairs[blockIdx.x / stack.width];
  const int dx = blockIdx.x % stack.width;
  const PooledPlanes pooled{reinterpret_cast<float*>(memory + 2 * resident * table_vectors)};
  const auto put = [&]<int Rows>(const RegisterPlane& plane, As<Rows>, int down, bool add) {
    if (dx % 2 == 0) {
      pooled.put<Rows, 2>(plane, down, add);
    } else {
      pooled.put<Rows, 0>(plane, down, add);
      pooled.put<Rows, 1>(plane, down, add);
    }
  };
  run_column<AllSigned, Full>(stack, constants, {memory, memory + resident * table_vectors, resident},
                              first + record_place(stack, pair.first), second + record_place(stack, pair.second), dx,
                              [&](int dy, bool inside, const RegisterPlane& plane) {
                                if (dy % 2 == 0) {
                                  if (inside) put(plane, As<2>(), dy / 2, false);
                                  return;
                                }
                                __syncthreads();
                                if (inside) put(plane, As<0>(), dy / 2, true);
                                __syncthreads();
                                if (inside) put(plane, As<1>(), (dy / 2 + 1) % (stack.height / 2), true);
                              });
  __syncthreads();
  // Constant where the grid is, for the sake of divisions.
  const int height = Full ? pooled_side : stack.height / 2;
  const int width = Full ? pooled_side : stack.width / 2;
  const int rows = (dx % 2 == 0 ? 2 : 4) * height * height;
  float* to = parts + static_cast<std::size_t>(blockIdx.x) * 4 * height * height * width;
  if constexpr (Full) {
    for (int k = threadIdx.x; k < rows * (pooled_side / 4); k += 32 * warps) {
      const int row = k / (pooled_side / 4);
      const float* from = pooled.memory + row * pooled_stride;
      reinterpret_cast<float4*>(to)[k] = reinterpret_cast<const float4*>(from)[k % (pooled_side / 4)];
    }
  } else {
    const int x = threadIdx.x % pooled_side;
    for (int row = threadIdx.x / pooled_side; row < rows; row += 32 * warps / pooled_side) {
      const int down = row / height;  // and the array, and the part
      if (x < width) to[row * width + x] = pooled.row(0, down / height, down % height, row % height)[x];
    }
  }
}

constexpr int flat_buffers = 3;  ///< tables of the images of a block on their way

/// Displacement 0: a block takes 4 × 4 pairs, one a warp; the tables of their images pass through shared memory.
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

/// One block for each image. Deviations are rounded before the next variances are taken from them, so that equal
/// patches stay equal.
__global__ void trace_images(const RegisterStack stack, float* records) {
  __shared__ double variance[plane_places];
  __shared__ double sums[plane_places];
  float* record = records + static_cast<std::size_t>(blockIdx.x) * stack.tables() * plane_places;
  const int k = threadIdx.x;
  const int y = k / plane_side;
  const int x = k % plane_side;
  const bool inside = y < stack.height && x < stack.width;
  double sum = 0;
  for (int c = 0; c < stack.channels; ++c) {
    const auto value = static_cast<double>(record[c * plane_places + k]);
    sum += value * value;
  }
  variance[k] = inside ? sum : 0;
  for (int layer = 0; layer < stack.layers; ++layer) {
    __syncthreads();
    sums[k] =
        variance[k] + (y > 0 ? variance[k - plane_side] : 0) + (y + 1 < plane_side ? variance[k + plane_side] : 0);
    __syncthreads();
    const double all = sums[k] + (x > 0 ? sums[k - 1] : 0) + (x + 1 < plane_side ? sums[k + 1] : 0);
    const float deviation = inside ? static_cast<float>(sqrt(all)) : 0.0F;
    record[(stack.channels + layer) * plane_places + k] = deviation;
    const bool rescales = layer % register_rescale_period == register_rescale_period - 1;
    variance[k] = static_cast<double>(deviation) * static_cast<double>(deviation) * 3.14159265358979323846 *
                  (rescales ? register_rescale : 1.0);
  }
}

int table_bytes(int tables) { return 2 * tables * plane_places * static_cast<int>(sizeof(float)); }
bool signed_throughout(const RegisterStack& stack) { return stack.slope != 0.0F && stack.slope != -1.0F; }

}  // namespace

void trace_register_images(const RegisterStack& stack, float* records, int count, void* stream) {
  trace_images<<<count, plane_places, 0, static_cast<cudaStream_t>(stream)>>>(stack, records);
}

void sum_register_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                         int count, double* sums, void* stream) {
  const RectifierConstants constants = constants_of(static_cast<double>(stack.slope));
  const bool full = stack.height == plane_side && stack.width == plane_side;
  const int resident = std::min(stack.tables(), most_shared() / table_bytes(1));
  const int bytes = table_bytes(resident);
  const auto kernel = signed_throughout(stack) ? sum_planes<true, false>
                      : full                   ? sum_planes<false, true>
                                               : sum_planes<false, false>;
  allow_shared(kernel, bytes);
  kernel<<<count * stack.width, 32 * warps, bytes, static_cast<cudaStream_t>(stream)>>>(stack, constants, resident,
                                                                                        first, second, pairs, sums);
}

void sum_equal_positions(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                         int count, double* sums, void* stream) {
  const RectifierConstants constants = constants_of(static_cast<double>(stack.slope));
  const int bytes = flat_buffers * 2 * flat_edge * plane_places * static_cast<int>(sizeof(float));
  const bool even = stack.height % 2 == 0 && stack.width % 2 == 0;
  const auto kernel = signed_throughout(stack) || !even ? sum_flat<true, Pairing::none, Pairing::none>
                                                        : sum_flat<false, Pairing::even, Pairing::even>;
  allow_shared(kernel, bytes);
  constexpr int square = flat_edge * flat_edge;
  kernel<<<count / square, 32 * square, bytes, static_cast<cudaStream_t>(stream)>>>(stack, constants, first, second,
                                                                                    pairs, sums);
}

void pool_register_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                          int count, float* parts, void* stream) {
  const RectifierConstants constants = constants_of(static_cast<double>(stack.slope));
  const bool full = stack.height == plane_side && stack.width == plane_side;
  const int pooled = 2 * 2 * pooled_side * pooled_plane * static_cast<int>(sizeof(float));
  const int resident = std::min(stack.tables(), (most_shared() - pooled) / table_bytes(1));
  const int bytes = table_bytes(resident) + pooled;
  const auto kernel = signed_throughout(stack) ? pool_planes<true, false>
                      : full                   ? pool_planes<false, true>
                                               : pool_planes<false, false>;
  allow_shared(kernel, bytes);
  kernel<<<count * stack.width, 32 * warps, bytes, static_cast<cudaStream_t>(stream)>>>(stack, constants, resident,
                                                                                        first, second, pairs, parts);
}

}  // namespace widelimit::cuda
