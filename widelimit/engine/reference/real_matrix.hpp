#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <vector>

/// Symmetric matrices in long double, by textbook algorithms (Golub and Van Loan 2013).
namespace widelimit::reference {

/// Row-major view; row i begins at data + i·stride.
struct RealView {
  long double* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;

  [[nodiscard]] long double& operator()(Index i, Index j) const { return data[i * stride + j]; }
};

/// Factors a = uᵀu in the upper triangle, row by row (§4.2). Returns the first leading minor that is not positive, or
/// 0.
[[nodiscard]] Index factor_cholesky(RealView a, Progress* progress);

/// Cholesky factorisation with diagonal pivoting (§4.2.8) in the lower triangle; stops when all remaining diagonal
/// entries are at most `least`. Returns the rank.
[[nodiscard]] Index factor_with_pivots(RealView a, long double least, std::vector<Index>& order, Progress* progress);

/// Jacobi's method (§8.5): sweeps of rotations, each of which eliminates one off-diagonal entry, until all are
/// negligible. Reads the upper triangle, overwrites a; returns the eigenvalues in ascending order, and the eigenvectors
/// in the rows of `vectors`.
[[nodiscard]] std::vector<long double> jacobi_eigenvalues(RealView a, RealView vectors, Progress* progress);

}  // namespace widelimit::reference
