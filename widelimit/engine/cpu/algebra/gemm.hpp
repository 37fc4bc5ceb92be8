#pragma once

#include "widelimit/base/matrix.hpp"

namespace widelimit::cpu {

/// c = a·bᵀ through BLAS, row-major.
void multiply_transposed(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
void multiply_transposed(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);
/// The diagonal of c = a·aᵀ and what is above it; what is below is left alone.
void multiply_by_itself(MatrixView<const float> a, MatrixView<float> c);
void multiply_by_itself(MatrixView<const double> a, MatrixView<double> c);
/// c = a·b.
void multiply(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);

}  // namespace widelimit::cpu
