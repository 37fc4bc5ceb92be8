#pragma once

#include "widelimit/base/matrix.hpp"

#include <concepts>

/// OpenBLAS with its own threads, as other programs use it; the library calls it on one thread only.
namespace widelimit::bench::openblas {

/// Sets the number of threads of subsequent calls.
void use_threads(int threads);
/// Upper triangle of c = a·aᵀ.
void syrk(MatrixView<const float> a, MatrixView<float> c);
void syrk(MatrixView<const double> a, MatrixView<double> c);
/// c = a·b.
void gemm(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c);
/// a = uᵀu over the upper triangle, in place.
void potrf(MatrixView<double> a);

}  // namespace widelimit::bench::openblas
