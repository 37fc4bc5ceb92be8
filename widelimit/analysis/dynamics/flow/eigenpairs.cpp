#include "widelimit/analysis/dynamics/flow/eigenpairs.hpp"

#include "widelimit/engine/cpu/algebra/tridiagonal.hpp"

#include <algorithm>

namespace widelimit {

Eigenpairs eigenpairs(const DenseGram& k, Progress* progress) {
  const Index n = k.count();
  Matrix<double> a(n, n, Content::unset);
  for (Index i = 0; i < n; ++i) std::copy_n(k.row(i), n, a.view().row(i));
  Eigenpairs result;
  result.values = eigenvectors(tridiagonal_form(std::move(a), progress), result.vectors, progress);
  return result;
}

}  // namespace widelimit
