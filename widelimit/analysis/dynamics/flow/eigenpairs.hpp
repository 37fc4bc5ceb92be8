#pragma once

#include "widelimit/kernel/gram_matrix.hpp"

#include <vector>

namespace widelimit {

/// K = VᵀDV with orthonormal rows of V.
struct Eigenpairs {
  std::vector<double> values;  ///< smallest first; those that only rounding leaves below 0 are 0
  EngineMatrix vectors;        ///< row i belongs to values[i]
  double noise = 0;            ///< eigenvalues of this size may be rounding: of the entries, and of their computation
  bool indefinite = false;     ///< one is below −noise
};

/// Error{numerical} where it does not converge.  O(n³), and 3n² doubles. `progress` may stop it.
[[nodiscard]] Eigenpairs eigenpairs(const GramMatrix& k, Progress* progress);

}  // namespace widelimit
