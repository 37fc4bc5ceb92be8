#include "widelimit/engine/cuda/plugin/dense_run.hpp"
#include "widelimit/engine/cuda/plugin/launch.hpp"

namespace widelimit::cuda {

namespace {

constexpr int lanes = 32;
constexpr int warps = 8;

/// ½‖x̂ ∓ x̂'‖² by all lanes of a warp: the digits that the product cancels.
template <typename T>
__device__ T half_distance(const T* x, const T* y, Index d, T sign) {
  T sum = 0;
  for (Index k = threadIdx.x; k < d; k += lanes) {
    const T difference = x[k] - sign * y[k];
    sum = fma(difference, difference, sum);
  }
  for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0U, sum, offset);
  return sum / 2;
}

/// A block takes 8P rows and 32 columns, a thread P rows of one column. Where several channels are carried, a launch
/// takes C of them, from `first_channel` on.
template <typename T, typename X, int C, int D, int P>
__global__ void __launch_bounds__(lanes* warps, sizeof(T) == sizeof(float) ? 4 : 2)
    dense_kernel(const DenseTile tile, const X* __restrict__ products, Index stride, int first_channel,
                 unsigned long long* overflow) {
  __shared__ T stage[warps * P][lanes + 1];
  const Index first_row = static_cast<Index>(blockIdx.y) * (warps * P);
  const Index first_col = static_cast<Index>(blockIdx.x) * lanes;
  const Index last_col = least(tile.cols.count, first_col + lanes) - 1;
  if (tile.upper_only && first_row > last_col) return;

  // Threads beyond the edge work on the last pair, and write nothing.
  const Index col = least(first_col + threadIdx.x, tile.cols.count - 1);
  PairStates<T, C, D, P> states;
  const X* const row_units = static_cast<const X*>(tile.rows.unit);
  const X* const col_units = static_cast<const X*>(tile.cols.unit);
  const Index d = tile.rows.dimension;
  std::int32_t row_sample[P];
#pragma unroll
  for (int p = 0; p < P; ++p) {
    const Index row = least(first_row + threadIdx.y + p * warps, tile.rows.count - 1);
    row_sample[p] = static_cast<std::int32_t>(tile.rows.first + row);
    X rho = products[row * stride + col];
    rho = least(X(1), most(X(-1), rho));
    X t = X(1) - std::abs(rho);
    unsigned near = __ballot_sync(~0U, t < recomputed_below<T, X>);
    const X own_sign = rho < 0 ? X(-1) : X(1);
    while (near != 0) {
      const int lane = __ffs(static_cast<int>(near)) - 1;
      near &= near - 1;
      const Index other = __shfl_sync(~0U, tile.cols.first + col, lane);
      const X sign = __shfl_sync(~0U, own_sign, lane);
      const X found = half_distance(row_units + row_sample[p] * d, col_units + other * d, d, sign);
      if (static_cast<int>(threadIdx.x) == lane) {
        t = found;
        rho = sign * (X(1) - found);
      }
    }
    states.rho[0][p] = static_cast<T>(rho);
    states.t[0][p] = static_cast<T>(t);
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
        if (!isfinite(value)) {
          const auto code = (static_cast<unsigned long long>(tile.rows.first + i) << 36) |
                            (static_cast<unsigned long long>(tile.cols.first + j) << 8) |
                            static_cast<unsigned long long>(slot & 255);
          atomicMin(overflow, code);
        }
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

template <typename T, typename X, int C, int D, int P>
cudaError_t launch(const DenseTile& tile, const void* products, Index stride, unsigned long long* overflow,
                   cudaStream_t stream) {
  const dim3 block(lanes, warps);
  const dim3 grid(static_cast<unsigned>((tile.cols.count + lanes - 1) / lanes),
                  static_cast<unsigned>((tile.rows.count + warps * P - 1) / (warps * P)));
  for (int first = 0; first < tile.channels || first == 0; first += C) {
    dense_kernel<T, X, C, D, P>
        <<<grid, block, 0, stream>>>(tile, static_cast<const X*>(products), stride, first, overflow);
  }
  return cudaGetLastError();
}

template <typename T, typename X>
cudaError_t launch_in(const DenseTile& tile, const void* products, Index stride, unsigned long long* overflow,
                      cudaStream_t stream) {
  if (tile.depth > 1) return launch<T, X, dense_channels, dense_depth, 1>(tile, products, stride, overflow, stream);
  if (tile.channels > 1) return launch<T, X, dense_channels, 1, 1>(tile, products, stride, overflow, stream);
  constexpr int pairs = sizeof(T) == sizeof(float) ? 4 : 2;  // what registers hold
  return launch<T, X, 1, 1, pairs>(tile, products, stride, overflow, stream);
}

}  // namespace

cudaError_t launch_dense(const DenseTile& tile, const void* products, Index stride, unsigned long long* overflow,
                         cudaStream_t stream) {
  if (tile.arithmetic == Precision::f64) return launch_in<double, double>(tile, products, stride, overflow, stream);
  return tile.products == Precision::f64 ? launch_in<float, double>(tile, products, stride, overflow, stream)
                                         : launch_in<float, float>(tile, products, stride, overflow, stream);
}

}  // namespace widelimit::cuda
