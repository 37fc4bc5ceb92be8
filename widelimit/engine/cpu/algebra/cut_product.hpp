#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <concepts>

namespace widelimit {

/// C = alpha·op(A)·op(B) + beta·C on row-major blocks without gaps; C is m×n, the inner size k.
struct Product {
  Index m, n, k;
  bool transpose_a = false;
  bool transpose_b = false;
  double alpha = 1.0;
  double beta = 0.0;
};

/// A large product is cut into parts of C by its size alone, and `threads` threads take them: the numbers are the same
/// on any number of threads. Each thread reads its own part of the larger factor, so that a wide matrix of weights
/// passes through the caches once.
template <std::floating_point T>
void multiply(const Product& product, const T* a, const T* b, T* c, int threads = 1);

/// One part of a product: rows [row, row + m) and columns [col, col + n) of C, where m, n are those of `part` and the
/// whole is `product`.
template <std::floating_point T>
void multiply_part(const Product& product, Index row, Index col, Index m, Index n, const T* a, const T* b, T* c);

}  // namespace widelimit

namespace widelimit::cpu {

/// c = alpha·op(a)·op(b) + beta·c, cut along the longer side of c by its size alone: the numbers are the same on any
/// number of threads. Each thread reads its own part of the larger factor, so that a wide matrix of weights passes
/// through the caches once.
template <std::floating_point T>
void cut_product(T alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, T beta,
                 MatrixView<T> c, int threads);

}  // namespace widelimit::cpu
