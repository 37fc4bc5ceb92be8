#pragma once

#include <vector>
#include "widelimit/kernel/gram_matrix.hpp"

namespace widelimit {

/// K = VᵀDV with orthonormal rows of V.
struct Eigenpairs {
  std::vector<double> values;  ///< smallest first
  EngineMatrix vectors;        ///< row i belongs to values[i]
};

/// Error{numerical} where it does not converge.  O(n³), and 3n² doubles. `progress` may stop it.
[[nodiscard]] Eigenpairs eigenpairs(const GramMatrix& k, Progress* progress = nullptr);

}  // namespace widelimit
