#include "widelimit/analysis/dynamics/flow/eigenpairs.hpp"

namespace widelimit {

Eigenpairs eigenpairs(const GramMatrix& k, Progress* progress) {
  const Algebra& algebra = k.algebra();
  Eigenpairs result;
  result.values = algebra.eigenvectors(algebra.copy_of(k.matrix(), Precision::f64), result.vectors, progress);
  return result;
}

}  // namespace widelimit
