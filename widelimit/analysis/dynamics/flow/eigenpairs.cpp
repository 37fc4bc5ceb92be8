#include "widelimit/analysis/dynamics/flow/eigenpairs.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

Eigenpairs eigenpairs(const GramMatrix& k, Progress* progress) {
  const Algebra& algebra = k.algebra();
  Eigenpairs result;
  result.values = algebra.eigenvectors(algebra.copy_of(k.matrix(), Precision::f64), result.vectors, progress);
  // The factor 8 is a safety margin, so that a null vector is not treated as learned.
  result.noise = 8 * static_cast<double>(k.samples()) * k.epsilon() *
                 std::max(std::abs(result.values.front()), std::abs(result.values.back()));
  result.indefinite = result.values.front() < -result.noise;
  // Negative rounding errors would grow as e^{2|d|t}.
  for (double& d : result.values) d = d < 0 && d >= -result.noise ? 0.0 : d;
  return result;
}

}  // namespace widelimit
