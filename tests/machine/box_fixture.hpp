#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace widelimit {

/// Points of two overlapping or separate clusters and the Gram matrix of a Gaussian kernel, positive definite.
struct Clouds {
  Matrix<double> gram;
  std::vector<double> labels;
};

inline Clouds clouds(Index n, double apart, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::array<double, 3>> points;
  Clouds result{Matrix<double>(n, n), {}};
  for (Index i = 0; i < n; ++i) {
    const double y = i % 2 == 0 ? 1 : -1;
    result.labels.push_back(y);
    points.push_back({normal(random) + y * apart / 2, normal(random), normal(random)});
  }
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      double square = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        const double difference = points[static_cast<std::size_t>(i)][d] - points[static_cast<std::size_t>(j)][d];
        square += difference * difference;
      }
      result.gram(i, j) = std::exp(-square / 6);
    }
  }
  return result;
}

/// Returns (Kα)ᵢ + b of one output.
inline std::vector<double> values(const Matrix<double>& gram, const Fit& fit, Index output = 0) {
  std::vector<double> g;
  for (Index i = 0; i < gram.rows(); ++i) {
    double sum = fit.bias[static_cast<std::size_t>(output)];
    for (Index j = 0; j < gram.rows(); ++j) sum += gram(i, j) * fit.alpha(j, output);
    g.push_back(sum);
  }
  return g;
}

inline double squared_norm(const Matrix<double>& gram, const Fit& fit, Index output = 0) {
  double sum = 0;
  for (Index i = 0; i < gram.rows(); ++i) {
    for (Index j = 0; j < gram.rows(); ++j) sum += fit.alpha(i, output) * gram(i, j) * fit.alpha(j, output);
  }
  return sum;
}

inline void expect_finite(const Fit& fit) {
  for (Index i = 0; i < fit.alpha.rows() * fit.alpha.cols(); ++i) ASSERT_TRUE(std::isfinite(fit.alpha.data()[i]));
  for (const double b : fit.bias) ASSERT_TRUE(std::isfinite(b));
  for (const auto& number : {fit.summary.primal, fit.summary.dual, fit.summary.gap}) {
    if (number) {
      ASSERT_TRUE(std::isfinite(*number));
    }
  }
}

}  // namespace widelimit
