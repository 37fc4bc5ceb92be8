#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <vector>

/// Symmetric matrices in long double, by the textbook (Golub and Van Loan 2013).
namespace widelimit::reference {

/// Row-major; row i begins at data + i·stride.
struct RealView {
  long double* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;

  [[nodiscard]] long double& operator()(Index i, Index j) const { return data[i * stride + j]; }
};

/// a = uᵀu over the upper triangle, row after row (§4.2); the first minor that is not positive, or 0.
[[nodiscard]] Index factor_cholesky(RealView a, Progress* progress);

/// The largest diagonal entry left is the next pivot (§4.2.8), over the lower triangle; returns the rank.
[[nodiscard]] Index factor_with_pivots(RealView a, long double least, std::vector<Index>& order, Progress* progress);

/// Jacobi's method (§8.5): rotations that each make one entry beside the diagonal zero, in sweeps until all are
/// negligible. Reads the upper triangle, destroys a; eigenvalues smallest first, eigenvectors in the rows of `vectors`.
[[nodiscard]] std::vector<long double> jacobi_eigenvalues(RealView a, RealView vectors, Progress* progress);

}  // namespace widelimit::reference
