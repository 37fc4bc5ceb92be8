#pragma once

#include "widelimit/base/matrix.hpp"

#include <cblas.h>

/// BLAS and LAPACK on row-major views, by the type of their numbers. One thread each: tiles are what is shared.
namespace widelimit::cpu {

enum class Op : bool { plain, transposed };

/// c = alpha·op(a)·op(b) + beta·c.
template <std::floating_point T>
void gemm(T alpha, Op op_a, MatrixView<const T> a, Op op_b, MatrixView<const T> b, T beta, MatrixView<T> c);
/// Upper triangle of c = alpha·aᵀa + beta·c.
template <std::floating_point T>
void syrk(T alpha, MatrixView<const T> a, T beta, MatrixView<T> c);
/// b = op(u)⁻¹b, u upper triangular.
template <std::floating_point T>
void trsm(MatrixView<const T> u, Op op, MatrixView<T> b);
/// a = uᵀu over the upper triangle; the order of the first leading minor that is not positive, or 0.
template <std::floating_point T>
Index potrf(MatrixView<T> a);

}  // namespace widelimit::cpu
