#pragma once

#include "widelimit/base/matrix.hpp"

namespace widelimit {

/// to = fromᵀ; `to` is from.cols × from.rows and does not overlap.
void transpose(MatrixView<const float> from, MatrixView<float> to);
void transpose(MatrixView<const double> from, MatrixView<double> to);

/// Copies what lies above the diagonal of a square below it.
template <typename T>
void mirror_upper(MatrixView<T> square) {
  for (Index i = 1; i < square.rows; ++i) {
    for (Index j = 0; j < i; ++j) square(i, j) = square(j, i);
  }
}

}  // namespace widelimit
