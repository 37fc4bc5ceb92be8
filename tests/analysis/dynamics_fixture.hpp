#pragma once

#include "widelimit/analysis/dynamics/flow.hpp"
#include "widelimit/base/error.hpp"

#include "tests/machine/random_gram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace widelimit {

inline constexpr double infinite_time = std::numeric_limits<double>::infinity();

/// n × outputs pseudo-random labels ±1; both occur in every column if n ≥ 2.
inline Matrix<double> random_signs(Index n, Index outputs, std::uint64_t seed = 7) {
  Noise noise(seed);
  Matrix<double> y(n, outputs);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < outputs; ++j) y(i, j) = i < 2 ? (i == 0 ? 1.0 : -1.0) : (noise() > 0 ? 1.0 : -1.0);
  }
  return y;
}

inline Matrix<double> random_numbers(Index n, Index outputs, std::uint64_t seed = 9) {
  Noise noise(seed);
  Matrix<double> y(n, outputs);
  for (Index i = 0; i < n * outputs; ++i) y.data()[i] = 2 * noise();
  return y;
}

inline Matrix<double> product_of(const Matrix<double>& k, const Matrix<double>& alpha) {
  Matrix<double> g(k.rows(), alpha.cols());
  GramMatrix(k).multiply(alpha.view(), g.view());
  return g;
}

inline double largest_difference(const double* a, const double* b, Index count) {
  double largest = 0;
  for (Index i = 0; i < count; ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}
inline double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  return a.rows() == b.rows() && a.cols() == b.cols() ? largest_difference(a.data(), b.data(), a.rows() * a.cols())
                                                      : infinite_time;
}

inline Code code_of_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return Code{};
}

/// Requests a stop at update number `updates`.
class StopProgress final : public Progress {
 public:
  explicit StopProgress(int updates) : left_(updates) {}
  bool update(std::int64_t, std::int64_t, std::string_view) override { return --left_ > 0; }

 private:
  int left_;
};

}  // namespace widelimit
