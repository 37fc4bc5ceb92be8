#include "widelimit/engine/cpu/algebra/cut_product.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"

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

void gemm(const Product& p, const float* a, blasint lda, const float* b, blasint ldb, float* c, blasint ldc) {
  cblas_sgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans, p.transpose_b ? CblasTrans : CblasNoTrans,
              blas_size(p.m), blas_size(p.n), blas_size(p.k), static_cast<float>(p.alpha), a, lda, b, ldb,
              static_cast<float>(p.beta), c, ldc);
}

void gemm(const Product& p, const double* a, blasint lda, const double* b, blasint ldb, double* c, blasint ldc) {
  cblas_dgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans, p.transpose_b ? CblasTrans : CblasNoTrans,
              blas_size(p.m), blas_size(p.n), blas_size(p.k), p.alpha, a, lda, b, ldb, p.beta, c, ldc);
}

/// Below this many multiply-adds a team costs more than it saves.
constexpr double worth_a_team = 1 << 24;
/// Parts of a product: enough for teams of different speed, few enough that packing the smaller factor again for each
/// stays below a tenth of the work.
constexpr Index most_parts = 16;
constexpr Index thinnest_part = 64;

/// Length of one part of a side of `size`, a multiple of what BLAS takes at a time.
Index part_length(Index size) {
  const Index length = std::max(thinnest_part, (size + most_parts - 1) / most_parts);
  return (length + thinnest_part - 1) / thinnest_part * thinnest_part;
}

}  // namespace

template <std::floating_point T>
void multiply_part(const Product& product, Index row, Index col, Index m, Index n, const T* a, const T* b, T* c) {
  const Index lda = std::max<Index>(product.transpose_a ? product.m : product.k, 1);
  const Index ldb = std::max<Index>(product.transpose_b ? product.k : product.n, 1);
  Product part = product;
  part.m = m;
  part.n = n;
  gemm(part, a + (product.transpose_a ? row : row * lda), blas_size(lda), b + (product.transpose_b ? col * ldb : col),
       blas_size(ldb), c + row * product.n + col, blas_size(product.n));
}

template <std::floating_point T>
void multiply(const Product& product, const T* a, const T* b, T* c, int threads) {
  if (product.m == 0 || product.n == 0) return;
  const double work = static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
  const bool tall = product.m > product.n;
  const Index side = tall ? product.m : product.n;
  const Index length = work < worth_a_team ? side : part_length(side);
  const Index parts = (side + length - 1) / length;
  const auto one = [&](Index k) {
    const Index begin = k * length;
    const Index size = std::min(length, side - begin);
    if (tall) {
      multiply_part(product, begin, 0, size, product.n, a, b, c);
    } else {
      multiply_part(product, 0, begin, product.m, size, a, b, c);
    }
  };
  if (threads > 1 && parts > 1) {
    parallel_for(parts, threads, one);
  } else {
    for (Index k = 0; k < parts; ++k) one(k);
  }
}

template void multiply(const Product&, const float*, const float*, float*, int);
template void multiply(const Product&, const double*, const double*, double*, int);
template void multiply_part(const Product&, Index, Index, Index, Index, const float*, const float*, float*);
template void multiply_part(const Product&, Index, Index, Index, Index, const double*, const double*, double*);

}  // namespace widelimit
