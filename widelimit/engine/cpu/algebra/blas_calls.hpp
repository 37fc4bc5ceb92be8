#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <span>

/// BLAS and LAPACK on row-major views, overloaded by precision. Single-threaded: parallelism is over tiles (tiled.hpp).
namespace widelimit::cpu {

/// c = alpha·op(a)·op(b) + beta·c.
template <std::floating_point T>
void gemm(T alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, T beta,
          MatrixView<T> c);
/// A vector with stride.
template <typename T>
struct Strided {
  T* data;
  Index stride = 1;
};
/// y = alpha·op(a)·x + beta·y for a nonempty a; avoids the packing of a in gemm, which would cost as much.
template <std::floating_point T>
void gemv(T alpha, Transpose op, MatrixView<const T> a, Strided<const T> x, T beta, Strided<T> y);
/// Upper triangle of c = alpha·op(a)·op(a)ᵀ + beta·c.
template <std::floating_point T>
void syrk(T alpha, Transpose op, MatrixView<const T> a, T beta, MatrixView<T> c);
/// Lower triangle of c = alpha·aaᵀ + c.
void syrk_lower(double alpha, MatrixView<const double> a, MatrixView<double> c);
/// b = op(u)⁻¹b, u upper triangular.
template <std::floating_point T>
void trsm(MatrixView<const T> u, Transpose op, MatrixView<T> b);
/// b = op(l)⁻¹b, l lower triangular.
void solve_lower(MatrixView<const double> l, Transpose op, MatrixView<double> b);
/// b = b·u⁻¹, u upper triangular.
void solve_right(MatrixView<const double> u, MatrixView<double> b);
/// b = op(l)·b and, from the right, b = b·op(l), l lower triangular.
void multiply_lower(MatrixView<const double> l, Transpose op, MatrixView<double> b);
void multiply_lower_right(MatrixView<const double> l, Transpose op, MatrixView<double> b);
/// Upper triangle of c = alpha·(aᵀb + bᵀa) + c.
void syr2k(double alpha, MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c);
/// m = alpha·xyᵀ + m.
void ger(double alpha, std::span<const double> x, std::span<const double> y, MatrixView<double> m);
[[nodiscard]] double dot(std::span<const double> x, std::span<const double> y);
/// y = alpha·x + y.
void axpy(double alpha, std::span<const double> x, std::span<double> y);
/// x, y = cosine·x + sine·y, cosine·y − sine·x.
void rotate(double cosine, double sine, std::span<double> x, std::span<double> y);
[[nodiscard]] double norm(std::span<const double> x);
/// y = alpha·m·x + y for a symmetric m stored in its upper triangle.
void symv(double alpha, MatrixView<const double> m, std::span<const double> x, std::span<double> y);
/// Computes the eigenvalues of a tridiagonal matrix in ascending order, in place of its diagonal; destroys `beside`,
/// the off-diagonal. Returns false if the iteration does not converge.
bool tridiagonal_eigenvalues(std::span<double> diagonal, std::span<double> beside);

/// Factors a = uᵀu over the upper triangle; returns the order of the first leading minor that is not positive, or 0.
template <std::floating_point T>
Index potrf(MatrixView<T> a);
/// x = A⁻¹x from the factor u of A = uᵀu, for `columns` contiguous columns.
void potrs(MatrixView<const double> u, double* x, Index columns);

// Specialised for float and double.
template <>
void gemm(float, Transpose, MatrixView<const float>, Transpose, MatrixView<const float>, float, MatrixView<float>);
template <>
void gemv(float, Transpose, MatrixView<const float>, Strided<const float>, float, Strided<float>);
template <>
void syrk(float, Transpose, MatrixView<const float>, float, MatrixView<float>);
template <>
void trsm(MatrixView<const float>, Transpose, MatrixView<float>);
template <>
Index potrf(MatrixView<float>);
template <>
void gemm(double, Transpose, MatrixView<const double>, Transpose, MatrixView<const double>, double, MatrixView<double>);
template <>
void gemv(double, Transpose, MatrixView<const double>, Strided<const double>, double, Strided<double>);
template <>
void syrk(double, Transpose, MatrixView<const double>, double, MatrixView<double>);
template <>
void trsm(MatrixView<const double>, Transpose, MatrixView<double>);
template <>
Index potrf(MatrixView<double>);

}  // namespace widelimit::cpu
