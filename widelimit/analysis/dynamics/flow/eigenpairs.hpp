#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <vector>

namespace widelimit {

/// K = VᵀDV with orthonormal rows of V.
struct Eigenpairs {
  std::vector<double> values;  ///< ascending; negative values within `noise` are set to 0
  EngineMatrix vectors;        ///< row i belongs to values[i]
  double noise = 0;            ///< bound on the rounding error of an eigenvalue
  bool indefinite = false;     ///< an eigenvalue is below −noise
};

/// Computes the eigendecomposition. Throws Error{numerical} if it does not converge. O(n³) time, 3n² doubles.
/// `progress` can stop it.
[[nodiscard]] Eigenpairs eigenpairs(const GramMatrix& k, Progress* progress);

}  // namespace widelimit
