#include "widelimit/finite/affine.hpp"

#include "widelimit/base/error.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>

namespace widelimit {

namespace {

blasint blas_size(Index n) {
  if (n > std::numeric_limits<blasint>::max()) {
    fail(Code::resource, "a product of size {} is beyond what BLAS can index; use fewer samples at a time", n);
  }
  return static_cast<blasint>(n);
}

}  // namespace

void multiply(const Product& product, const double* a, const double* b, double* c) {
  if (product.m == 0 || product.n == 0) return;
  const auto lead_a = blas_size(std::max<Index>(product.transpose_a ? product.m : product.k, 1));
  const auto lead_b = blas_size(std::max<Index>(product.transpose_b ? product.k : product.n, 1));
  cblas_dgemm(CblasRowMajor, product.transpose_a ? CblasTrans : CblasNoTrans,
              product.transpose_b ? CblasTrans : CblasNoTrans, blas_size(product.m), blas_size(product.n),
              blas_size(product.k), product.alpha, a, lead_a, b, lead_b, product.beta, c, blas_size(product.n));
}

Tensor affine(const WeightSlot& slot, const Weights& weights, const Tensor& a) {
  Tensor z(a.count(), {a.shape().height, a.shape().width, slot.fan_out});
  multiply({.m = a.rows(), .n = slot.fan_out, .k = slot.fan_in, .alpha = slot.w_scale}, a.data(), weights.w.data(),
           z.data());
  if (!weights.b.empty()) {
    for (Index i = 0; i < z.size(); ++i) {
      z[i] += slot.b_std * weights.b[static_cast<std::size_t>(i % slot.fan_out)];
    }
  }
  return z;
}

Tensor affine_signal(const WeightSlot& slot, const Weights& weights, const Tensor& z_signal) {
  Tensor a_signal(z_signal.count(), {z_signal.shape().height, z_signal.shape().width, slot.fan_in});
  multiply({.m = z_signal.rows(), .n = slot.fan_in, .k = slot.fan_out, .transpose_b = true, .alpha = slot.w_scale},
           z_signal.data(), weights.w.data(), a_signal.data());
  return a_signal;
}

}  // namespace widelimit
