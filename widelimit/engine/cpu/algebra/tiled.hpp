#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include <functional>

/// Dense linear algebra as tasks over tiles, each with single-threaded BLAS: results do not depend on the number of
/// threads, and a delayed thread does not block the others while there are tasks.
namespace widelimit::cpu {

/// Factors a = uᵀu over the upper triangle in place; returns the order of the first leading minor that is not positive,
/// or 0. n³/3 multiply-adds.
template <std::floating_point T>
[[nodiscard]] Index tiled_cholesky(MatrixView<T> a, Progress* progress, int threads);

/// b = op(u)⁻¹b, u upper triangular.  n²·columns multiply-adds.
template <std::floating_point T>
void tiled_solve(MatrixView<const T> u, Transpose op, MatrixView<T> b, int threads);

/// c = alpha·op(a)·op(b) + beta·c.
template <std::floating_point T>
void tiled_product(T alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, T beta,
                   MatrixView<T> c, int threads);

/// Computes the upper triangle of c = alpha·aᵀa + beta·c.
template <std::floating_point T>
void tiled_self_product(T alpha, MatrixView<const T> a, T beta, MatrixView<T> c, int threads);

/// Computes the lower triangle of c = alpha·aaᵀ + c.
void tiled_row_product(double alpha, MatrixView<const double> a, MatrixView<double> c, int threads);

/// c = v·a for a symmetric a stored in its upper triangle.
void tiled_symmetric_product(MatrixView<const double> v, MatrixView<const double> a, MatrixView<double> c, int threads);

/// Computes the upper triangle of c = alpha·(aᵀb + bᵀa) + c. If `beside` is given, the first `ahead` rows of c, which
/// it may read and write, are finished first; it then runs concurrently with the rest.
void tiled_rank_two_update(double alpha, MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c,
                           int threads, Index ahead = 0, const std::function<void()>& beside = nullptr);

}  // namespace widelimit::cpu
