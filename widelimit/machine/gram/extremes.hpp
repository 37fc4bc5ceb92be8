#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

namespace widelimit {

/// Ends of the spectrum of a symmetric matrix.
struct Extremes {
  double smallest = 0;
  double largest = 0;
};

/// By tridiagonal reduction.  O(n³), and n² doubles. `progress` may stop it.
[[nodiscard]] Extremes exact_extremes(const GramMatrix& k, Progress* progress = nullptr);

/// Extreme Ritz values of a Krylov space of 100 products, kept orthogonal by two passes of Gram–Schmidt: inside the
/// true ends, and close to them where the spectrum is spread out there. `progress` may stop it.
[[nodiscard]] Extremes lanczos_extremes(const GramMatrix& k, Progress* progress = nullptr);

}  // namespace widelimit
