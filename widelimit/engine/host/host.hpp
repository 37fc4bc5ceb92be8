#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <span>

/// Linear algebra on host vectors and small host matrices, on the calling thread, for solvers that also use engine
/// matrices. Work of O(n²) and more on a Gram matrix belongs to Algebra.
namespace widelimit::host {

[[nodiscard]] double dot(std::span<const double> x, std::span<const double> y);
[[nodiscard]] double norm(std::span<const double> x);
/// y = alpha·x + y.
void axpy(double alpha, std::span<const double> x, std::span<double> y);
/// x, y = cosine·x + sine·y, cosine·y − sine·x.
void rotate(double cosine, double sine, std::span<double> x, std::span<double> y);
/// m = alpha·xyᵀ + m.
void add_outer(double alpha, std::span<const double> x, std::span<const double> y, MatrixView<double> m);
/// y = alpha·op(a)·x + beta·y.
void multiply(double alpha, Transpose op, MatrixView<const double> a, std::span<const double> x, double beta,
              std::span<double> y);

/// y = alpha·a·x + y for a symmetric a stored in its upper triangle.
void add_symmetric(double alpha, MatrixView<const double> a, std::span<const double> x, std::span<double> y);

/// c = alpha·op(a)·op(b) + beta·c.
template <std::floating_point T>
void product(T alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, T beta,
             MatrixView<T> c);

/// Computes the upper triangle of c = aᵀa.
void inner_product(MatrixView<const float> a, MatrixView<float> c);
/// Computes the upper triangle of c = c − aᵀa.
void subtract_inner_product(MatrixView<const double> a, MatrixView<double> c);

/// Factors a = uᵀu over the upper triangle in place; returns the order of the first leading minor that is not positive,
/// or 0.
[[nodiscard]] Index cholesky(MatrixView<double> a);
/// x = (uᵀu)⁻¹x.
void solve_factored(MatrixView<const double> u, std::span<double> x);
/// b = u⁻ᵀb, u upper triangular.
void solve_left(MatrixView<const double> u, MatrixView<double> b);
/// b = b·u⁻¹, u upper triangular.
void solve_right(MatrixView<const double> u, MatrixView<double> b);

/// Computes the eigenvalues of a tridiagonal matrix in ascending order, in place of its diagonal; destroys `beside`,
/// the off-diagonal. Returns false if the iteration does not converge.
bool tridiagonal_eigenvalues(std::span<double> diagonal, std::span<double> beside);

}  // namespace widelimit::host
