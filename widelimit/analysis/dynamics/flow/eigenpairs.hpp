#pragma once

#include "widelimit/machine/gram/dense_gram.hpp"

#include <vector>

namespace widelimit {

/// K = VᵀDV with orthonormal rows of V.
struct Eigenpairs {
  std::vector<double> values;  ///< smallest first
  Matrix<double> vectors;      ///< row i belongs to values[i]
};

/// Through a tridiagonal form (tridiagonal.hpp), scaled so that very large and very small kernels stay clear of
/// overflow. Error{numerical} where it does not converge.  O(n³), and 3n² doubles. `progress` may stop it.
[[nodiscard]] Eigenpairs eigenpairs(const DenseGram& k, Progress* progress = nullptr);

}  // namespace widelimit
