#include "widelimit/engine/cuda/plugin/dense_products.hpp"
#include "widelimit/engine/cuda/plugin/launch.hpp"

namespace widelimit::cuda {

namespace {

constexpr int warps = 8;

/// A block processes 8P rows and 32 columns, a thread P rows of one column. A launch processes C channels, from
/// `first_channel` on.
template <typename T, class Products, int C, int D, int P>
__global__ void __launch_bounds__(lanes* warps, sizeof(T) == sizeof(float) ? 4 : 2)
    dense_kernel(const DenseTile tile, const Products products, int first_channel, unsigned long long* overflow) {
  __shared__ T stage[warps * P][lanes + 1];
  const Index first_row = static_cast<Index>(blockIdx.y) * (warps * P);
  const Index first_col = static_cast<Index>(blockIdx.x) * lanes;
  const Index last_col = least(tile.cols.count, first_col + lanes) - 1;
  if (tile.upper_only && first_row > last_col) return;

  // Threads beyond the edge compute the last pair and write nothing.
  const Index col = least(first_col + threadIdx.x, tile.cols.count - 1);
  PairStates<T, C, D, P> states;
  std::int32_t row_sample[P];
#pragma unroll
  for (int p = 0; p < P; ++p) {
    const Index row = least(first_row + threadIdx.y + p * warps, tile.rows.count - 1);
    row_sample[p] = static_cast<std::int32_t>(tile.rows.first + row);
    Correlation pair = correlation_of(products.at(row, col, tile));
    separate_near(tile, row, col, Products::near_one, pair);
    states.rho[0][p] = static_cast<T>(pair.rho);
    states.t[0][p] = static_cast<T>(pair.t);
  }

  const bool single = tile.output == Precision::f32;
  const auto put = [single](const DenseOutput& output, Index i, Index j, T value) {
    const Index place = i * output.stride + j;
    if (single) {
      static_cast<float*>(output.data)[place] = static_cast<float>(value);
    } else {
      static_cast<double*>(output.data)[place] = value;
    }
  };
  const auto write = [&](const DenseStep& step, int slot, const T(&values)[P]) {
    const DenseOutput output = tile.outputs[slot];
    const Index row_deviation = step.row_feature * tile.rows.samples;
    const Index col_deviation = step.col_feature * tile.cols.samples + tile.cols.first + col;
    if (tile.mirrored) __syncthreads();
#pragma unroll
    for (int p = 0; p < P; ++p) {
      const Index i = first_row + threadIdx.y + p * warps;
      const Index j = first_col + threadIdx.x;
      T value = scaled_back(values[p], tile, row_deviation + row_sample[p], col_deviation);
      if (tile.upper_only && i == j) value = static_cast<T>(tile.diagonal[slot * tile.rows.samples + row_sample[p]]);
      if (sizeof(T) > sizeof(float) && single) value = static_cast<T>(static_cast<float>(value));
      if (i < tile.rows.count && j < tile.cols.count && !(tile.upper_only && i > j)) {
        if (!isfinite(value)) atomicMin(overflow, overflow_code(tile.rows.first + i, tile.cols.first + j, slot));
        put(output, tile.first_row + i, tile.first_col + j, value);
      }
      if (tile.mirrored) stage[threadIdx.y + p * warps][threadIdx.x] = value;
    }
    if (!tile.mirrored) return;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < P; ++p) {
      const int element = (p * warps + static_cast<int>(threadIdx.y)) * lanes + static_cast<int>(threadIdx.x);
      const int below = element % (warps * P);
      const int beside = element / (warps * P);
      const Index i = first_row + below;
      const Index j = first_col + beside;
      if (i >= tile.rows.count || j >= tile.cols.count || (tile.upper_only && i >= j)) continue;
      put(output, tile.first_col + j, tile.first_row + i, stage[below][beside]);
    }
  };
  run_steps(tile, row_sample, static_cast<std::int32_t>(tile.cols.first + col), first_channel, states,
            [&](const DenseStep& step, int state) {
              if (step.nngp_slot >= 0 && first_channel == 0) write(step, step.nngp_slot, states.rho[state]);
#pragma unroll
              for (int m = 0; m < C; ++m) {
                if (first_channel + m < step.ntk_count) {
                  write(step, step.ntk_slot + first_channel + m, states.theta[state][m]);
                }
              }
            });
}

template <typename T, class Products, int C, int D, int P>
cudaError_t launch(const DenseTile& tile, const Products& products, unsigned long long* overflow, cudaStream_t stream) {
  const dim3 block(lanes, warps);
  const dim3 grid(static_cast<unsigned>((tile.cols.count + lanes - 1) / lanes),
                  static_cast<unsigned>((tile.rows.count + warps * P - 1) / (warps * P)));
  for (int first = 0; first < tile.channels || first == 0; first += C) {
    dense_kernel<T, Products, C, D, P><<<grid, block, 0, stream>>>(tile, products, first, overflow);
  }
  return cudaGetLastError();
}

template <typename T, class Products>
cudaError_t launch_in(const DenseTile& tile, const Products& products, unsigned long long* overflow,
                      cudaStream_t stream) {
  if (tile.depth > 1) return launch<T, Products, dense_channels, dense_depth, 1>(tile, products, overflow, stream);
  if (tile.channels > 1) return launch<T, Products, dense_channels, 1, 1>(tile, products, overflow, stream);
  constexpr int pairs = sizeof(T) == sizeof(float) ? 4 : 2;  // limited by registers
  return launch<T, Products, 1, 1, pairs>(tile, products, overflow, stream);
}

}  // namespace

cudaError_t launch_dense(const DenseTile& tile, const void* products, Index stride, unsigned long long* overflow,
                         cudaStream_t stream) {
  if (tile.products != DenseProducts::f64) {
    return launch_in<float>(tile, DigitProducts(tile, products, stride), overflow, stream);
  }
  return tile.arithmetic == Precision::f64
             ? launch_in<double>(tile, DoubleProducts<double>(tile, products, stride), overflow, stream)
             : launch_in<float>(tile, DoubleProducts<float>(tile, products, stride), overflow, stream);
}

}  // namespace widelimit::cuda
