#pragma once

#include "widelimit/base/matrix.hpp"

namespace widelimit {

/// Computes to = fromᵀ; `to` is from.cols × from.rows and must not overlap.
void transpose(MatrixView<const float> from, MatrixView<float> to);
void transpose(MatrixView<const double> from, MatrixView<double> to);

/// Copies the upper triangle of a square matrix to the lower one.
template <typename T>
void mirror_upper(MatrixView<T> square) {
  for (Index i = 1; i < square.rows; ++i) {
    for (Index j = 0; j < i; ++j) square(i, j) = square(j, i);
  }
}

}  // namespace widelimit
