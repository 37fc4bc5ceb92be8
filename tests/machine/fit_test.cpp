#include "widelimit/machine/fit.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit {
namespace {

Fit small_fit() {
  Fit fit;
  fit.alpha = Matrix<double>(3, 2);
  for (Index i = 0; i < 3; ++i) {
    fit.alpha(i, 0) = static_cast<double>(i + 1);
    fit.alpha(i, 1) = -0.5;
  }
  fit.bias = {0.25, 0};
  return fit;
}

template <typename T>
void expect_sums(Index tests) {
  const Fit fit = small_fit();
  Matrix<T> k(tests, 3);
  for (Index i = 0; i < tests; ++i) {
    for (Index j = 0; j < 3; ++j) k(i, j) = static_cast<T>(i - 2 * j) / 4;
  }
  const Matrix<double> g = decision(fit, k.view());
  ASSERT_EQ(g.rows(), tests);
  ASSERT_EQ(g.cols(), 2);
  for (Index i = 0; i < tests; ++i) {
    for (Index c = 0; c < 2; ++c) {
      double expected = fit.bias[static_cast<std::size_t>(c)];
      for (Index j = 0; j < 3; ++j) expected += static_cast<double>(k(i, j)) * fit.alpha(j, c);
      EXPECT_DOUBLE_EQ(g(i, c), expected) << i << ' ' << c;
    }
  }
}

TEST(Decision, IsTheSumOverTrainingSamples) {
  for (const Index tests : {0, 1, 2, 37, 600}) {
    expect_sums<float>(tests);
    expect_sums<double>(tests);
  }
}

TEST(Decision, RefusesAKernelOfOtherSamplesOrWithoutNumbers) {
  const Matrix<double> narrow(2, 2);
  EXPECT_THROW((void)decision(small_fit(), narrow.view()), Error);
  Matrix<float> broken(2, 3);
  broken(1, 2) = std::numeric_limits<float>::quiet_NaN();
  try {
    (void)decision(small_fit(), broken.view());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input);
    EXPECT_NE(std::string(error.what()).find("(1, 2)"), std::string::npos);
  }
}

TEST(Weights, AreFiniteNotNegativeAndNotAllZero) {
  const double good[]{0, 2};
  check_weights(good, 2);
  check_weights({}, 2);
  EXPECT_THROW(check_weights(good, 3), Error);
  const double negative[]{1, -1};
  EXPECT_THROW(check_weights(negative, 2), Error);
  const double zero[]{0, 0};
  EXPECT_THROW(check_weights(zero, 2), Error);
  const double infinite[]{1, std::numeric_limits<double>::infinity()};
  EXPECT_THROW(check_weights(infinite, 2), Error);
}

}  // namespace
}  // namespace widelimit
