#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace widelimit::test {

using Extended = long double;
using Rows = std::vector<std::vector<Extended>>;

/// Solves a x = b by Gaussian elimination with partial pivoting in long double, independent of the library.
inline std::vector<Extended> eliminate(Rows a, std::vector<Extended> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::fabs(a[i][k]) > std::fabs(a[pivot][k])) pivot = i;
    }
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Extended factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

/// A positive definite kernel of scattered points on a line, with a small multiple of the identity added.
template <typename T>
Matrix<T> line_gram(Index n, double nugget = 1e-3) {
  Matrix<T> k(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double xi = std::fmod(0.618 * static_cast<double>(i), 1.0) * 4;
      const double xj = std::fmod(0.618 * static_cast<double>(j), 1.0) * 4;
      k(i, j) = static_cast<T>(std::exp(-std::abs(xi - xj)) + (i == j ? nugget : 0.0));
    }
  }
  return k;
}

/// Asymmetric targets of several outputs.
inline Matrix<double> wavy_targets(Index n, Index outputs) {
  Matrix<double> y(n, outputs);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < outputs; ++j) {
      y(i, j) = std::sin(1.7 * static_cast<double>(i) + static_cast<double>(j)) + 0.3 * static_cast<double>(j + 1);
    }
  }
  return y;
}

/// A progress that requests interruption.
class Stop final : public Progress {
 public:
  bool update(std::int64_t, std::int64_t, std::string_view) override { return false; }
};

}  // namespace widelimit::test
