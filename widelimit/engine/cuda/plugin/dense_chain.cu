#include "widelimit/engine/cuda/plugin/dense_products.hpp"
#include "widelimit/engine/cuda/plugin/launch.hpp"

#include <cfloat>

namespace widelimit::cuda {

namespace {

constexpr int warps = 8;
constexpr int rows_each = 4;  ///< rows per warp, processed one after the other
constexpr int cols_each = 4;  ///< columns per thread, processed together, 32 apart
constexpr int block_rows = warps * rows_each;
constexpr int block_cols = lanes * cols_each;

struct ChainStep {
  float a;
  float b;
  bool rectifies;
  bool trained;
};

/// Runs all steps on the pairs of one row and `cols_each` columns. ρ < 0 can occur up to the first rectifier with A ≤ 0
/// (relu, abs), and throughout if there is none.
__device__ void run_chain(const ChainStep* steps, int count, float (&rho)[cols_each], float (&t)[cols_each],
                          float (&theta)[cols_each]) {
  bool negative = true;
  for (int s = 0; s < count; ++s) {
    const ChainStep step = steps[s];
    if (!step.rectifies) {
#pragma unroll
      for (int q = 0; q < cols_each; ++q) theta[q] += step.trained ? rho[q] : 0.0F;
      continue;
    }
#pragma unroll
    for (int q = 0; q < cols_each; ++q) {
      const Moved<float> moved =
          negative ? rectifier(step.a, step.b, rho[q], t[q]) : rectifier_above(step.a, step.b, t[q]);
      rho[q] = moved.rho;
      t[q] = moved.t;
      theta[q] = fmaf(moved.factor, theta[q], step.trained ? moved.rho : 0.0F);
    }
    negative = negative && step.a > 0;
  }
}

/// A block processes 32 rows and 128 columns; shared memory is used to transpose them.
__global__ void __launch_bounds__(lanes* warps, 3)
    chain_kernel(const DenseTile tile, const DigitProducts products, unsigned long long* overflow) {
  __shared__ float stage[block_cols][block_rows + 1];
  __shared__ ChainStep steps[chain_steps];
  const int first_row = static_cast<int>(blockIdx.y) * block_rows;
  const int first_col = static_cast<int>(blockIdx.x) * block_cols;
  if (tile.upper_only && first_row > first_col + block_cols - 1) return;
  const int row_count = static_cast<int>(tile.rows.count);
  const int col_count = static_cast<int>(tile.cols.count);
  const int lane = static_cast<int>(threadIdx.x);
  const int warp = static_cast<int>(threadIdx.y);
  const int step_count = tile.step_count - 1;
  for (int s = warp * lanes + lane; s < step_count; s += lanes * warps) {
    const DenseStep& step = tile.steps[s];
    steps[s] = {static_cast<float>(step.a), static_cast<float>(step.b), step.op == DenseOp::rectifier,
                step.trained_begin < step.trained_end};
  }
  __syncthreads();
  const DenseStep& emit = tile.steps[step_count];
  const bool nngp = emit.nngp_slot >= 0;
  const int slot = nngp ? emit.nngp_slot : emit.ntk_slot;
  const DenseOutput output = tile.outputs[slot];
  auto* const out = static_cast<float*>(output.data);
  const Index row_deviations = emit.row_feature * tile.rows.samples + tile.rows.first;
  const Index col_deviations = emit.col_feature * tile.cols.samples + tile.cols.first;

  // Threads beyond the edge compute the last pair and write nothing.
  int col[cols_each];
  float col_deviation[cols_each];
  double col_unit[cols_each];
#pragma unroll
  for (int q = 0; q < cols_each; ++q) {
    col[q] = least(first_col + lane + lanes * q, col_count - 1);
    col_deviation[q] = tile.cols.rounded_deviations[col_deviations + col[q]];
    col_unit[q] = tile.cols.digits.unit[tile.cols.first + col[q]];
  }
#pragma unroll 1
  for (int k = 0; k < rows_each; ++k) {
    const int i = first_row + warp + warps * k;
    const int row = least(i, row_count - 1);
    const float row_deviation = tile.rows.rounded_deviations[row_deviations + row];
    const double row_unit = tile.rows.digits.unit[tile.rows.first + row];
    const DigitProducts::Row sums = products.row(row);
    float rho[cols_each];
    float t[cols_each];
    float theta[cols_each] = {};
    bool near = false;
#pragma unroll
    for (int q = 0; q < cols_each; ++q) {
      const Correlation pair = correlation_of(products.at(sums, col[q], row_unit * col_unit[q]));
      rho[q] = static_cast<float>(pair.rho);
      t[q] = static_cast<float>(pair.t);
      near = near || pair.t < DigitProducts::near_one;
    }
    if (__any_sync(~0U, near)) {
#pragma unroll
      for (int q = 0; q < cols_each; ++q) {
        Correlation pair = correlation_of(products.at(sums, col[q], row_unit * col_unit[q]));
        separate_near(tile, row, col[q], DigitProducts::near_one, pair);
        rho[q] = static_cast<float>(pair.rho);
        t[q] = static_cast<float>(pair.t);
      }
    }
    run_chain(steps, step_count, rho, t, theta);
    float* const to = out + (tile.first_row + row) * output.stride + tile.first_col;
#pragma unroll
    for (int q = 0; q < cols_each; ++q) {
      const int j = first_col + lane + lanes * q;
      float value = (nngp ? rho[q] : theta[q]) * row_deviation * col_deviation[q];
      if (tile.upper_only && i == j) {
        value = static_cast<float>(tile.diagonal[slot * tile.rows.samples + tile.rows.first + row]);
      }
      const bool inside = i < row_count && j < col_count && !(tile.upper_only && i > j);
      if (!(fabsf(value) <= FLT_MAX)) {  // NaN if float cannot represent a deviation
        value = scaled_back(nngp ? rho[q] : theta[q], tile, row_deviations + row, col_deviations + col[q]);
        if (inside && !isfinite(value)) {
          atomicMin(overflow, overflow_code(tile.rows.first + i, tile.cols.first + j, slot));
        }
      }
      if (inside) to[j] = value;
      stage[lane + lanes * q][warp + warps * k] = value;
    }
  }
  if (!tile.mirrored) return;
  __syncthreads();
  const int i = first_row + lane;
#pragma unroll 4
  for (int c = warp; c < block_cols; c += warps) {
    const int j = first_col + c;
    if (i >= row_count || j >= col_count || (tile.upper_only && i >= j)) continue;
    out[(tile.first_col + j) * output.stride + tile.first_row + i] = stage[c][lane];
  }
}

}  // namespace

cudaError_t launch_chain(const DenseTile& tile, const void* products, Index stride, unsigned long long* overflow,
                         cudaStream_t stream) {
  const dim3 block(lanes, warps);
  const dim3 grid(static_cast<unsigned>((tile.cols.count + block_cols - 1) / block_cols),
                  static_cast<unsigned>((tile.rows.count + block_rows - 1) / block_rows));
  chain_kernel<<<grid, block, 0, stream>>>(tile, DigitProducts(tile, products, stride), overflow);
  return cudaGetLastError();
}

}  // namespace widelimit::cuda
