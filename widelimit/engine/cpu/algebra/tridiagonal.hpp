#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"

#include <vector>

namespace widelimit::cpu {

/// A = σ Q T Qᵀ with T tridiagonal and Q a product of reflections.
struct TridiagonalForm {
  std::vector<double> diagonal;
  std::vector<double> beside;  ///< one fewer
  Matrix<double> reflectors;   ///< as LAPACK's dsytrd leaves them in its lower triangle
  std::vector<double> factors;
  double scale = 1;  ///< σ, a power of 2: T is clear of overflow whatever A is

  [[nodiscard]] Index samples() const { return reflectors.rows(); }
};

/// Of a symmetric matrix, of which the upper triangle is read and destroyed. A panel of columns at a time, between
/// which `progress` may stop it.  O(4n³/3).
[[nodiscard]] TridiagonalForm tridiagonal_form(Matrix<double> a, int threads, Progress* progress);

/// Of A, smallest first.  O(n²).
[[nodiscard]] std::vector<double> eigenvalues(const TridiagonalForm& form);

/// Eigenvalues of A and, in the rows of `vectors`, its eigenvectors: n × n. Error{numerical} where they do not
/// converge. O(2n³), a block of vectors at a time; one part of it, O(n²), cannot be stopped.
[[nodiscard]] std::vector<double> eigenvectors(const TridiagonalForm& form, Matrix<double>& vectors,
                                               Progress* progress);

}  // namespace widelimit::cpu
