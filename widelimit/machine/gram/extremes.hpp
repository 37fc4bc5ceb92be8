#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

namespace widelimit {

/// Smallest and largest eigenvalue of a symmetric matrix.
struct Extremes {
  double smallest = 0;
  double largest = 0;
};

/// Computes them by tridiagonal reduction. O(n³), and n² doubles. `progress` can interrupt it.
[[nodiscard]] Extremes exact_extremes(const GramMatrix& k, Progress* progress = nullptr);

/// Returns the extreme Ritz values of a Krylov space of 100 products, reorthogonalised by two passes of Gram–Schmidt.
/// They lie inside the spectrum, close to its ends if the extreme eigenvalues are well separated. `progress` can
/// interrupt it.
[[nodiscard]] Extremes lanczos_extremes(const GramMatrix& k, Progress* progress = nullptr);

}  // namespace widelimit
