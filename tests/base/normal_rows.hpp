#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/random.hpp"

namespace widelimit {

/// n rows of d standard normal values times `scale`.
inline Matrix<double> normal_rows(Index n, Index d, std::uint64_t seed, double scale = 1.0) {
  const Random random(seed);
  Matrix<double> x(n, d);
  for (Index k = 0; k < n * d; ++k) x.data()[k] = scale * random.normal(static_cast<std::uint64_t>(k));
  return x;
}

}  // namespace widelimit
