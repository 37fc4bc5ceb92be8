#pragma once

#include "widelimit/finite/architecture.hpp"
#include "widelimit/finite/parameters.hpp"
#include "widelimit/finite/tensor.hpp"

namespace widelimit {

/// C = alpha·op(A)·op(B) + beta·C on row-major blocks without gaps; C is m×n, the inner size k.
struct Product {
  Index m, n, k;
  bool transpose_a = false;
  bool transpose_b = false;
  double alpha = 1.0;
  double beta = 0.0;
};
void multiply(const Product& product, const double* a, const double* b, double* c);

/// z = w_scale·aW + b_std·b at every position.
[[nodiscard]] Tensor affine(const WeightSlot& slot, const Weights& weights, const Tensor& a);
/// Signal at a from the signal at z: w_scale·(∂f/∂z)Wᵀ.
[[nodiscard]] Tensor affine_signal(const WeightSlot& slot, const Weights& weights, const Tensor& z_signal);

}  // namespace widelimit
