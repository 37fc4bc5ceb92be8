#pragma once

#include "widelimit/engine/cuda/plugin/dense_run.hpp"

#include <cuda_runtime.h>

/// Access of kernels to the products of the unit rows of a tile, and the recomputation of nearly parallel pairs.
namespace widelimit::cuda {

constexpr int lanes = 32;

/// Products in float64, for steps in T.
template <typename T>
class DoubleProducts {
 public:
  static constexpr double near_one = recomputed_below<T>;
  DoubleProducts(const DenseTile& /*tile*/, const void* products, Index stride)
      : products_(static_cast<const double*>(products)), stride_(stride) {}

  __device__ double at(Index row, Index col, const DenseTile& /*tile*/) const { return products_[row * stride_ + col]; }

 private:
  const double* products_;
  Index stride_;
};

/// Products by digits, for steps in float.
class DigitProducts {
 public:
  static constexpr double near_one = digits_near_one;
  DigitProducts(const DenseTile& tile, const void* sums, Index stride)
      : stride_(stride),
        step_(padded_count(tile.rows.count) * stride),
        sums_(static_cast<const std::int32_t*>(sums)),
        limit_(tile.products == DenseProducts::digits_to_last ? last_sum_limit(tile.rows.dimension) : HUGE_VAL) {}

  /// One row of S₀ … S₃.
  struct Row {
    const std::int32_t* sums[digit_sums];
  };
  __device__ Row row(Index i) const {
    const std::int32_t* const first = sums_ + i * stride_;
    return {{first, first + step_, first + 2 * step_, first + 3 * step_}};
  }
  /// `units`: product of the digit units of both samples.
  __device__ double at(const Row& row, Index col, double units) const {
    const std::int32_t last = units > limit_ ? row.sums[3][col] : 0;
    return digit_product(row.sums[0][col], row.sums[1][col], row.sums[2][col], last, units);
  }
  __device__ double at(Index i, Index col, const DenseTile& tile) const {
    return at(row(i), col, tile.rows.digits.unit[tile.rows.first + i] * tile.cols.digits.unit[tile.cols.first + col]);
  }

 private:
  Index stride_;
  Index step_;
  const std::int32_t* sums_;
  double limit_;
};

/// Returns ½‖x̂ ∓ x̂'‖², computed by all lanes of a warp; avoids the cancellation of the product.
__device__ inline double half_distance(const double* x, const double* y, Index d, double sign) {
  double sum = 0;
  for (Index k = threadIdx.x; k < d; k += lanes) {
    const double difference = x[k] - sign * y[k];
    sum = fma(difference, difference, sum);
  }
  for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0U, sum, offset);
  return sum / 2;
}

/// Recomputes the pairs of a warp (one row, one column per lane) whose t is below `near`.
__device__ inline void separate_near(const DenseTile& tile, Index row, Index col, double near, Correlation& pair) {
  unsigned found = __ballot_sync(~0U, pair.t < near);
  const Index d = tile.rows.dimension;
  const double own_sign = pair.rho < 0 ? -1.0 : 1.0;
  while (found != 0) {
    const int lane = __ffs(static_cast<int>(found)) - 1;
    found &= found - 1;
    const Index other = __shfl_sync(~0U, tile.cols.first + col, lane);
    const double sign = __shfl_sync(~0U, own_sign, lane);
    const double t = half_distance(tile.rows.unit + (tile.rows.first + row) * d, tile.cols.unit + other * d, d, sign);
    if (static_cast<int>(threadIdx.x) == lane) pair = near_correlation(sign, t);
  }
}

/// Code of an overflowing entry; the minimum over codes is the first in order of row, column and output.
__device__ inline unsigned long long overflow_code(Index row, Index col, int slot) {
  return (static_cast<unsigned long long>(row) << 36) | (static_cast<unsigned long long>(col) << 8) |
         static_cast<unsigned long long>(slot & 255);
}

}  // namespace widelimit::cuda
