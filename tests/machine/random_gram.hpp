#pragma once

#include "widelimit/base/matrix.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace widelimit {

/// Pseudo-random numbers in [−1, 1).
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed * 2 + 1) {}
  double operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) * 0x1.0p-52 - 1;
  }

 private:
  std::uint64_t state_;
};

/// Returns K = XXᵀ/d of n random samples with d features: of rank d if d < n.
inline Matrix<double> random_gram(Index n, Index d, std::uint64_t seed = 1) {
  Noise noise(seed);
  Matrix<double> x(n, d);
  for (Index i = 0; i < n * d; ++i) x.data()[i] = 2 * noise();
  Matrix<double> k(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index f = 0; f < d; ++f) sum += x(i, f) * x(j, f);
      k(i, j) = k(j, i) = sum / static_cast<double>(d);
    }
  }
  return k;
}

}  // namespace widelimit
