#include "widelimit/engine/cuda/plugin/plane/register_column.cuh"

namespace widelimit::cuda {

namespace {

static_assert(pooled_side == plane_side / 2);
constexpr int pooled_plane = pooled_side * pooled_stride;

/// Pooled planes of the coarser grid, displacements modulo the grid, accumulated in shared memory: part, array,
/// displacement, row.
struct PooledPlanes {
  float* memory;

  __device__ float* row(int part, int m, int down, int y) const {
    return memory + ((part * 2 + m) * pooled_side + down) * pooled_plane + y * pooled_stride;
  }
  /// Stores or adds pooled values: `Rows` selects row 0 or 1 of each pair of rows, or their sum (2); so does `Columns`.
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

/// An even displacement pairs rows of equal parity, so both rows of a pooled row contribute to the same pooled
/// displacement. For an odd one, 2D + 1, even rows contribute to D and odd rows to D + 1. Columns likewise.
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
  // Without pairing: one instantiation of the layer loop instead of four; pairing does not pay off for so few layers.
  run_column<AllSigned, false>(stack, constants, {memory, memory + resident * table_vectors, resident},
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
  // Compile-time constants for the full grid, which makes divisions cheap.
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
      const int down = row / height;  // also encodes the array and the part
      if (x < width) to[row * width + x] = pooled.row(0, down / height, down % height, row % height)[x];
    }
  }
}

}  // namespace

void pool_register_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                          int count, float* parts, void* stream) {
  const RectifierConstants constants = constants_of(static_cast<double>(stack.slope));
  const bool full = stack.height == plane_side && stack.width == plane_side;
  const int resident = resident_tables(stack, RegisterReadout::pool, most_shared());
  const int bytes = 2 * resident * table_bytes + pooled_bytes;
  const auto kernel = signed_throughout(stack) ? pool_planes<true, false>
                      : full                   ? pool_planes<false, true>
                                               : pool_planes<false, false>;
  allow_shared(kernel, bytes);
  kernel<<<count * stack.width, 32 * warps, bytes, static_cast<cudaStream_t>(stream)>>>(stack, constants, resident,
                                                                                        first, second, pairs, parts);
}

}  // namespace widelimit::cuda
