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

/// ρ of a pair of a tile as products in X left it.
template <typename X>
struct PlainProducts {
  using Value = X;
  static constexpr DenseProducts kind = sizeof(X) == sizeof(float) ? DenseProducts::f32 : DenseProducts::f64;
  const X* __restrict__ entries;
  Index stride;
  __device__ X at(const DenseTile& /*tile*/, Index row, Index col) const { return entries[row * stride + col]; }
};

/// As products of digits left it: three matrices, `plane` numbers apart.
struct DigitProducts {
  using Value = double;
  static constexpr DenseProducts kind = DenseProducts::digits;
  const std::int32_t* __restrict__ entries;
  Index stride;
  Index plane;
  __device__ double at(const DenseTile& tile, Index row, Index col) const {
    const std::int32_t* const place = entries + row * stride + col;
    const double units = tile.rows.digit_units[tile.rows.first + row] * tile.cols.digit_units[tile.cols.first + col];
    return product_of_digits(place[0], place[plane], place[2 * plane]) * units;
  }
};

/// The pairs of a block: 8P rows and 32 columns of a tile, of which a thread has P rows of one column.
template <typename T, int P>
struct PairBlock {
  int first_row;  ///< within the tile
  int first_col;
  bool whole;  ///< all of its pairs are in the tile and, where only the upper half is computed, above the diagonal

  __device__ explicit PairBlock(const DenseTile& tile)
      : first_row(static_cast<int>(blockIdx.y) * (warps * P)), first_col(static_cast<int>(blockIdx.x) * lanes) {
    whole = first_row + warps * P <= tile.rows.count && first_col + lanes <= tile.cols.count &&
            !(tile.upper_only && first_row + warps * P > first_col);
  }
  [[nodiscard]] __device__ int row(int p) const { return first_row + static_cast<int>(threadIdx.y) + p * warps; }
  [[nodiscard]] __device__ int col() const { return first_col + static_cast<int>(threadIdx.x); }

  /// An output and, through `stage`, its mirror image.
  template <bool Whole, typename Out>
  __device__ void put(const DenseTile& tile, const DenseOutput& output, const T (&values)[P],
                      T (&stage)[warps * P][lanes + 1]) const {
    Out* const entries = static_cast<Out*>(output.data);
    const auto inside = [&](int i, int j) {
      return Whole || (i < tile.rows.count && j < tile.cols.count && !(tile.upper_only && i > j));
    };
    Out* to = entries + (tile.first_row + row(0)) * output.stride + tile.first_col + col();
#pragma unroll
    for (int p = 0; p < P; ++p, to += warps * output.stride) {
      if (inside(row(p), col())) *to = static_cast<Out>(values[p]);
    }
    if (!tile.mirrored) return;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < P; ++p) stage[threadIdx.y + p * warps][threadIdx.x] = values[p];
    __syncthreads();
    // Threads take the block column by column: 8P rows of it are neighbours in the mirror image.
    constexpr int height = warps * P;
    const int element = static_cast<int>(threadIdx.y) * lanes + static_cast<int>(threadIdx.x);
    const int below = element % height;
    int beside = element / height;
    to = entries + (tile.first_col + first_col + beside) * output.stride + tile.first_row + first_row + below;
    constexpr int columns = lanes * warps / height;
#pragma unroll
    for (int p = 0; p < P; ++p, beside += columns, to += columns * output.stride) {
      const bool below_diagonal = Whole || !tile.upper_only || first_row + below < first_col + beside;
      if (inside(first_row + below, first_col + beside) && below_diagonal) *to = static_cast<Out>(stage[below][beside]);
    }
  }
};

/// Where several channels are carried, a launch takes C of them, from `first_channel` on.
template <typename T, typename Products, int C, int D, int P>
__global__ void __launch_bounds__(lanes* warps, sizeof(T) == sizeof(float) ? 4 : 2)
    dense_kernel(const DenseTile tile, const Products products, int first_channel, unsigned long long* overflow) {
  using X = typename Products::Value;
  __shared__ T stage[warps * P][lanes + 1];
  const PairBlock<T, P> block(tile);
  const int last_col = least(static_cast<int>(tile.cols.count), block.first_col + lanes) - 1;
  if (tile.upper_only && block.first_row > last_col) return;

  // Threads beyond the edge work on the last pair, and write nothing.
  const int col = least(block.col(), static_cast<int>(tile.cols.count) - 1);
  PairStates<T, C, D, P> states;
  const X* const row_units = static_cast<const X*>(tile.rows.unit);
  const X* const col_units = static_cast<const X*>(tile.cols.unit);
  const Index d = tile.rows.dimension;
  std::int32_t row_sample[P];
#pragma unroll
  for (int p = 0; p < P; ++p) {
    const int row = least(block.row(p), static_cast<int>(tile.rows.count) - 1);
    row_sample[p] = static_cast<std::int32_t>(tile.rows.first) + row;
    const X product = products.at(tile, row, col);
    const X rest = X(1) - std::abs(product);
    T rho = most(T(-1), least(T(1), static_cast<T>(product)));
    T t = most(T(0), static_cast<T>(rest));
    unsigned near = __ballot_sync(~0U, rest < X(recomputed_below<T>(Products::kind)));
    while (near != 0) {
      const int lane = __ffs(static_cast<int>(near)) - 1;
      near &= near - 1;
      const Index other = __shfl_sync(~0U, tile.cols.first + col, lane);
      const X sign = __shfl_sync(~0U, rho, lane) < 0 ? X(-1) : X(1);
      const X found = half_distance(row_units + row_sample[p] * d, col_units + other * d, d, sign);
      if (static_cast<int>(threadIdx.x) == lane) {
        t = static_cast<T>(found);
        rho = static_cast<T>(sign * (X(1) - found));
      }
    }
    states.rho[0][p] = rho;
    states.t[0][p] = t;
  }

  const bool single = tile.output == Precision::f32;
  const auto write = [&](const DenseStep& step, int slot, const T(&relative)[P]) {
    const DenseOutput output = tile.outputs[slot];
    const Index row_deviation = step.row_feature * tile.rows.samples;
    const Index col_deviation = step.col_feature * tile.cols.samples + tile.cols.first + col;
    T values[P];
    bool finite = true;
#pragma unroll
    for (int p = 0; p < P; ++p) {
      T value = scaled_back(relative[p], tile, row_deviation + row_sample[p], col_deviation);
      if (!block.whole && tile.upper_only && block.row(p) == block.col()) {
        value = static_cast<T>(tile.diagonal[slot * tile.rows.samples + row_sample[p]]);
      }
      if (sizeof(T) > sizeof(float) && single) value = static_cast<T>(static_cast<float>(value));
      finite = finite && isfinite(value);
      values[p] = value;
    }
    if (!finite) {
      for (int p = 0; p < P; ++p) {
        const Index i = block.row(p);
        const Index j = block.col();
        if (isfinite(values[p]) || i >= tile.rows.count || j >= tile.cols.count || (tile.upper_only && i > j)) continue;
        const auto code = (static_cast<unsigned long long>(tile.rows.first + i) << 36) |
                          (static_cast<unsigned long long>(tile.cols.first + j) << 8) |
                          static_cast<unsigned long long>(slot & 255);
        atomicMin(overflow, code);
      }
    }
    if (single && block.whole) {
      block.template put<true, float>(tile, output, values, stage);
    } else if (single) {
      block.template put<false, float>(tile, output, values, stage);
    } else if (block.whole) {
      block.template put<true, double>(tile, output, values, stage);
    } else {
      block.template put<false, double>(tile, output, values, stage);
    }
  };
  run_steps(tile, row_sample, static_cast<std::int32_t>(tile.cols.first) + col, first_channel, states,
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

template <typename T, int C, int D, int P, typename Products>
cudaError_t launch(const DenseTile& tile, const Products& products, unsigned long long* overflow, cudaStream_t stream) {
  const dim3 block(lanes, warps);
  const dim3 grid(static_cast<unsigned>((tile.cols.count + lanes - 1) / lanes),
                  static_cast<unsigned>((tile.rows.count + warps * P - 1) / (warps * P)));
  for (int first = 0; first < tile.channels || first == 0; first += C) {
    dense_kernel<T, Products, C, D, P><<<grid, block, 0, stream>>>(tile, products, first, overflow);
  }
  return cudaGetLastError();
}

template <typename T, typename Products>
cudaError_t launch_in(const DenseTile& tile, const Products& products, unsigned long long* overflow,
                      cudaStream_t stream) {
  if (tile.depth > 1) return launch<T, dense_channels, dense_depth, 1>(tile, products, overflow, stream);
  if (tile.channels > 1) return launch<T, dense_channels, 1, 1>(tile, products, overflow, stream);
  constexpr int pairs = sizeof(T) == sizeof(float) ? 4 : 2;  // what registers hold
  return launch<T, 1, 1, pairs>(tile, products, overflow, stream);
}

/// One block a row: its largest entry becomes the largest integer.
__global__ void split_digits_kernel(const double* rows, Index d, Index padded, std::int8_t* digits, double* units) {
  __shared__ double found[lanes * warps];
  const Index row = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  double largest = 0;
  for (Index k = thread; k < d; k += lanes * warps) largest = fmax(largest, fabs(rows[row * d + k]));
  found[thread] = largest;
  __syncthreads();
  for (int half = lanes * warps / 2; half > 0; half /= 2) {
    if (thread < half) found[thread] = fmax(found[thread], found[thread + half]);
    __syncthreads();
  }
  largest = found[0];
  const double scale = largest > 0 ? largest_in_digits / largest : 0.0;
  if (thread == 0) units[row] = largest / largest_in_digits;
  std::int8_t* const runs = digits + row * digit_runs * padded;
  for (Index k = thread; k < padded; k += lanes * warps) {
    const Digits split = digits_of(k < d ? __double2int_rn(rows[row * d + k] * scale) : 0);
    runs[k] = runs[4 * padded + k] = split.first;
    runs[padded + k] = runs[3 * padded + k] = split.second;
    runs[2 * padded + k] = split.third;
  }
}

}  // namespace

cudaError_t launch_split_digits(const Array& rows, std::int8_t* digits, double* units, cudaStream_t stream) {
  const Index padded = padded_dimension(rows.cols);
  const auto behind = static_cast<std::size_t>(digit_rows * digit_runs * padded);
  const cudaError_t cleared = cudaMemsetAsync(digits + rows.rows * digit_runs * padded, 0, behind, stream);
  if (cleared != cudaSuccess || rows.rows == 0) return cleared;
  split_digits_kernel<<<static_cast<unsigned>(rows.rows), lanes * warps, 0, stream>>>(
      static_cast<const double*>(rows.data), rows.cols, padded, digits, units);
  return cudaGetLastError();
}

cudaError_t launch_dense(const DenseTile& tile, const void* products, Index stride, Index plane,
                         unsigned long long* overflow, cudaStream_t stream) {
  const PlainProducts<double> twice{static_cast<const double*>(products), stride};
  if (tile.arithmetic == Precision::f64) return launch_in<double>(tile, twice, overflow, stream);
  if (tile.products == DenseProducts::f64) return launch_in<float>(tile, twice, overflow, stream);
  if (tile.products == DenseProducts::f32) {
    return launch_in<float>(tile, PlainProducts<float>{static_cast<const float*>(products), stride}, overflow, stream);
  }
  return launch_in<float>(tile, DigitProducts{static_cast<const std::int32_t*>(products), stride, plane}, overflow,
                          stream);
}

}  // namespace widelimit::cuda
