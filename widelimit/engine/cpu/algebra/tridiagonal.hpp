#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"

#include <vector>

namespace widelimit::cpu {

/// A = σ Q T Qᵀ with T tridiagonal and Q a product of reflections.
struct TridiagonalForm {
  std::vector<double> diagonal;
  std::vector<double> beside;  ///< off-diagonal, one entry fewer
  Matrix<double> reflectors;   ///< as returned by LAPACK's dsytrd in the lower triangle
  std::vector<double> factors;
  double scale = 1;  ///< σ, a power of 2, chosen such that T does not overflow

  [[nodiscard]] Index samples() const { return reflectors.rows(); }
};

/// Reduces a symmetric matrix given by its upper triangle, which is destroyed. Works in panels of columns, between
/// which `progress` can stop it.  O(4n³/3).
[[nodiscard]] TridiagonalForm tridiagonal_form(Matrix<double> a, int threads, Progress* progress);

/// Returns the eigenvalues of A in ascending order.  O(n²).
[[nodiscard]] std::vector<double> eigenvalues(const TridiagonalForm& form);

/// Returns the eigenvalues of A and writes its eigenvectors to the rows of `vectors`, n × n. Throws Error{numerical} if
/// the iteration does not converge. O(2n³), in blocks of vectors; one part of it, O(n²), cannot be interrupted.
[[nodiscard]] std::vector<double> eigenvectors(const TridiagonalForm& form, Matrix<double>& vectors,
                                               Progress* progress);

}  // namespace widelimit::cpu
