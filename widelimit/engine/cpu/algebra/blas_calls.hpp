#pragma once

#include "widelimit/base/matrix.hpp"

#include <span>

/// BLAS and LAPACK on row-major views, by the type of their numbers. One thread each: tiles are what is shared
/// (tiled.hpp).
namespace widelimit::cpu {

enum class Op : bool { plain, transposed };
enum class Triangle : bool { upper, lower };

/// c = alpha·op(a)·op(b) + beta·c.
template <std::floating_point T>
void gemm(T alpha, Op op_a, MatrixView<const T> a, Op op_b, MatrixView<const T> b, T beta, MatrixView<T> c);
/// Upper triangle of c = alpha·aᵀa + beta·c.
template <std::floating_point T>
void syrk(T alpha, MatrixView<const T> a, T beta, MatrixView<T> c);
/// b = op(u)⁻¹b, u upper triangular.
template <std::floating_point T>
void trsm(MatrixView<const T> u, Op op, MatrixView<T> b);
/// b = op(l)⁻¹b, l lower triangular.
void solve_lower(MatrixView<const double> l, Op op, MatrixView<double> b);
/// b = b·u⁻¹, u upper triangular.
void solve_right(MatrixView<const double> u, MatrixView<double> b);
/// b = op(t)·b or, from the right, b·op(t).
void multiply_triangle(MatrixView<const double> t, Triangle part, Op op, MatrixView<double> b);
void multiply_triangle_right(MatrixView<const double> t, Triangle part, Op op, MatrixView<double> b);
/// Upper triangle of c = alpha·(aᵀb + bᵀa) + c.
void syr2k(double alpha, MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);
/// Lower triangle of c = alpha·aaᵀ + c.
void syrk_lower(double alpha, MatrixView<const double> a, MatrixView<double> c);
/// m = alpha·xyᵀ + m.
void ger(double alpha, std::span<const double> x, std::span<const double> y, MatrixView<double> m);
[[nodiscard]] double dot(std::span<const double> x, std::span<const double> y);
/// y = alpha·x + y.
void axpy(double alpha, std::span<const double> x, std::span<double> y);
[[nodiscard]] double norm(std::span<const double> x);
/// y = alpha·m·x + y, m symmetric, of which the upper triangle is read.
void symv(double alpha, MatrixView<const double> m, std::span<const double> x, std::span<double> y);
/// Eigenvalues of a tridiagonal matrix, smallest first, in place of its diagonal; `beside` is destroyed. False
/// where they do not converge.
bool tridiagonal_eigenvalues(std::span<double> diagonal, std::span<double> beside);

/// a = uᵀu over the upper triangle; the order of the first leading minor that is not positive, or 0.
template <std::floating_point T>
Index potrf(MatrixView<T> a);
/// x = A⁻¹x by the factor u of A = uᵀu, for `columns` columns, one after the other in memory.
void potrs(MatrixView<const double> u, double* x, Index columns);

// Each is written once for float and once for double.
template <>
void gemm(float, Op, MatrixView<const float>, Op, MatrixView<const float>, float, MatrixView<float>);
template <>
void syrk(float, MatrixView<const float>, float, MatrixView<float>);
template <>
void trsm(MatrixView<const float>, Op, MatrixView<float>);
template <>
Index potrf(MatrixView<float>);
template <>
void gemm(double, Op, MatrixView<const double>, Op, MatrixView<const double>, double, MatrixView<double>);
template <>
void syrk(double, MatrixView<const double>, double, MatrixView<double>);
template <>
void trsm(MatrixView<const double>, Op, MatrixView<double>);
template <>
Index potrf(MatrixView<double>);

}  // namespace widelimit::cpu
