#include "widelimit/machine/ridge/ridge_path.hpp"

#include "tests/machine/elimination.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {
namespace {

using test::line_gram;
using test::wavy_targets;

/// Fits without sample `out` by fit_ridge and returns the prediction for `out`.
std::vector<double> left_out(const Matrix<double>& k, const Matrix<double>& y, Index out, double lambda, bool bias,
                             const std::vector<double>& weights) {
  const Index n = k.rows() - 1;
  Matrix<double> rest(n, n);
  Matrix<double> rest_y(n, y.cols());
  Matrix<double> row(1, n);
  std::vector<double> rest_weights;
  const auto other = [&](Index i) { return i < out ? i : i + 1; };
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) rest(i, j) = k(other(i), other(j));
    for (Index j = 0; j < y.cols(); ++j) rest_y(i, j) = y(other(i), j);
    row(0, i) = k(out, other(i));
    if (!weights.empty()) rest_weights.push_back(weights[static_cast<std::size_t>(other(i))]);
  }
  const Fit fit = fit_ridge(rest.view(), rest_y.view(), {.lambda = lambda, .bias = bias, .weights = rest_weights});
  const Matrix<double> g = decision(fit, row.view());
  return {g.data(), g.data() + g.cols()};
}

void expect_path(Index n, bool bias, const std::vector<double>& weights, const std::vector<double>& lambdas) {
  SCOPED_TRACE(testing::Message() << n << ' ' << bias << ' ' << weights.size());
  const Matrix<double> k = line_gram<double>(n);
  const Matrix<double> y = wavy_targets(n, 2);
  const RidgePath path = ridge_path(k.view(), y.view(), lambdas, {.bias = bias, .weights = weights});
  ASSERT_EQ(path.points.size(), lambdas.size());
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    const RidgePoint& point = path.points[l];
    const Fit fit = fit_ridge(k.view(), y.view(), {.lambda = lambdas[l], .bias = bias, .weights = weights});
    ASSERT_TRUE(point.fit.summary.converged()) << point.fit.summary.message;
    double error = 0;
    double total = 0;
    for (Index i = 0; i < n; ++i) {
      const double w = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
      const auto expected = left_out(k, y, i, lambdas[l], bias, weights);
      total += w;
      for (Index j = 0; j < 2; ++j) {
        EXPECT_NEAR(point.fit.alpha(i, j), fit.alpha(i, j), 1e-10 * (1 + std::abs(fit.alpha(i, j)))) << lambdas[l];
        EXPECT_NEAR(point.left_out(i, j), expected[static_cast<std::size_t>(j)], 1e-10) << lambdas[l];
        error += w * std::pow(y(i, j) - expected[static_cast<std::size_t>(j)], 2);
      }
    }
    EXPECT_NEAR(*point.loo_error, error / total, 1e-10 * error / total);
    EXPECT_FALSE(point.loo_misclassified);
    EXPECT_NEAR(*point.fit.summary.primal, *fit.summary.primal, 1e-10 * std::abs(*fit.summary.primal) + 1e-24);
    for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(point.fit.bias[j], fit.bias[j], 1e-10);
  }
}

TEST(RidgePath, IsRidgeAndBruteForceLeaveOneOut) {
  const std::vector<double> lambdas{1e-2, 0.0, 1e-12, 1.0, 1e3, 0.1, 0.2, 0.3, 0.4, 1e12};  // more than one group
  for (const Index n : {2, 37}) {
    for (const bool bias : {false, true}) expect_path(n, bias, {}, lambdas);
  }
}

TEST(RidgePath, IsRightAtTheSeamsOfBandsAndStrips) {
  for (const Index n : {48, 49, 97, 131, 241}) expect_path(n, false, {}, {0.3});
  expect_path(131, true, {}, {0.3});
}

TEST(RidgePath, TakesWeights) {
  std::vector<double> weights;
  for (Index i = 0; i < 60; ++i) weights.push_back(0.5 + static_cast<double>(i % 5));
  for (const bool bias : {false, true}) expect_path(60, bias, weights, {1e-2, 1.0});
  weights[7] = weights[50] = 0;
  for (const bool bias : {false, true}) expect_path(60, bias, weights, {0.0, 1e-2, 1.0});
}

TEST(RidgePath, TakesFloat32) {
  const Matrix<float> single = line_gram<float>(37);
  Matrix<double> twice(37, 37);
  for (Index i = 0; i < 37; ++i) {
    for (Index j = 0; j < 37; ++j) twice(i, j) = static_cast<double>(single(i, j));
  }
  const Matrix<double> y = wavy_targets(37, 1);
  const std::vector<double> lambdas{0.1};
  const RidgePath a = ridge_path(single.view(), y.view(), lambdas);
  const RidgePath b = ridge_path(twice.view(), y.view(), lambdas);
  EXPECT_EQ(*a.loo_error(0), *b.loo_error(0));
}

TEST(RidgePath, OfOneSamplePredictsNothingWithoutIt) {
  Matrix<double> k(1, 1);
  k(0, 0) = 2;
  Matrix<double> y(1, 1);
  y(0, 0) = 1;
  const std::vector<double> lambdas{1.0};
  for (const bool bias : {false, true}) {
    const RidgePath path = ridge_path(k.view(), y.view(), lambdas, {.bias = bias});
    EXPECT_NEAR(path.points[0].left_out(0, 0), 0, 1e-15);
    EXPECT_NEAR(*path.loo_error(0), 1, 1e-15);
    EXPECT_EQ(*path.loo_misclassified(0), 1);
  }
}

TEST(RidgePath, CountsMissedClasses) {
  const Index n = 40;
  const Matrix<double> k = line_gram<double>(n);
  Matrix<double> sign(n, 1);
  Matrix<double> one_hot(n, 2);
  for (Index i = 0; i < n; ++i) {
    const bool first = std::fmod(0.618 * static_cast<double>(i), 1.0) < 0.5;
    sign(i, 0) = first ? 1 : -1;
    one_hot(i, first ? 0 : 1) = 1;
  }
  sign(3, 0) *= -1;  // surrounded by the other class
  const std::vector<double> lambdas{0.1, 0.01};
  const RidgePath path = ridge_path(k.view(), sign.view(), lambdas);
  Index missed = 0;
  for (Index i = 0; i < n; ++i) missed += path.points[0].left_out(i, 0) * sign(i, 0) <= 0 ? 1 : 0;
  EXPECT_GE(missed, 1);
  EXPECT_DOUBLE_EQ(*path.loo_misclassified(0), static_cast<double>(missed) / n);
  EXPECT_TRUE(ridge_path(k.view(), one_hot.view(), lambdas).loo_misclassified(0));
  EXPECT_TRUE(path.best_classifier());
}

TEST(RidgePath, BestIsTheLeastError) {
  const Matrix<double> k = line_gram<double>(50);
  const Matrix<double> y = wavy_targets(50, 1);
  std::vector<double> lambdas;
  for (int e = -8; e <= 8; ++e) lambdas.push_back(std::pow(10.0, e));
  const RidgePath path = ridge_path(k.view(), y.view(), lambdas);
  for (Index i = 0; i < 17; ++i) EXPECT_LE(*path.loo_error(*path.best()), *path.loo_error(i));
}

TEST(RidgePath, GoesOnWhereSmallLambdasFail) {
  Matrix<double> k = line_gram<double>(60);
  for (Index i = 0; i < 60; ++i) k(i, i) -= 0.5;
  const Matrix<double> y = wavy_targets(60, 1);
  const std::vector<double> lambdas{0.0, 1e-3, 10.0};
  const RidgePath path = ridge_path(k.view(), y.view(), lambdas);
  EXPECT_EQ(path.points[0].fit.summary.ending, Ending::not_positive_definite);
  EXPECT_NE(path.points[1].fit.summary.message.find("lambda"), std::string::npos);
  EXPECT_FALSE(path.loo_error(0));
  EXPECT_TRUE(path.points[2].fit.summary.converged());
  EXPECT_EQ(path.best(), 2);
  for (Index i = 0; i < 60; ++i) EXPECT_EQ(path.alpha(0)(i, 0), 0.0);
  const Fit alone = fit_ridge(k.view(), y.view(), {.lambda = 0});
  const auto quoted = [](const std::string& text) { return text.substr(text.find("a ridge")); };
  EXPECT_EQ(quoted(alone.summary.message).substr(0, 20), quoted(path.points[0].fit.summary.message).substr(0, 20));
}

TEST(RidgePath, OfAZeroGram) {
  const Matrix<double> k(3, 3);
  const Matrix<double> y = wavy_targets(3, 1);
  const std::vector<double> lambdas{0.0, 1.0};
  const RidgePath path = ridge_path(k.view(), y.view(), lambdas);
  EXPECT_FALSE(path.points[0].fit.summary.converged());
  EXPECT_TRUE(path.points[1].fit.summary.converged());
  EXPECT_EQ(path.points[1].left_out(1, 0), 0.0);
}

TEST(RidgePath, HasNoConditionThatIsNoNumber) {
  const Matrix<double> y = wavy_targets(6, 1);
  const std::vector<double> weights(6, 1e300);
  const std::vector<double> lambdas{0, 1e-3};
  const RidgePath path = ridge_path(line_gram<double>(6).view(), y.view(), lambdas, {.weights = weights});
  for (const RidgePoint& point : path.points) {
    EXPECT_TRUE(!point.fit.summary.condition || std::isfinite(*point.fit.summary.condition));
  }
}

/// The eigenvalues of such a system are no numbers, and no λ makes it positive definite.
TEST(RidgePath, RefusesSystemsBeyondTheRangeOfFloat64) {
  const Matrix<double> y = wavy_targets(6, 1);
  const std::vector<double> weights(6, 1e300);
  const std::vector<double> lambdas{1e-3};
  Matrix<double> k = line_gram<double>(6);
  for (Index i = 0; i < 36; ++i) k.data()[i] *= 1e150;
  const auto expect_overflow = [](const auto& fit) {
    try {
      fit();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::numerical);
      EXPECT_NE(std::string(error.what()).find("divide the kernel, the weights"), std::string::npos) << error.what();
    }
  };
  expect_overflow([&] { (void)ridge_path(k.view(), y.view(), lambdas, {.weights = weights}); });
  expect_overflow([&] { (void)fit_ridge(k.view(), y.view(), {.lambda = 1e-3, .weights = weights}); });
  expect_overflow(
      [&] { (void)fit_ridge(k.view(), y.view(), {.lambda = 1e-3, .weights = weights, .indefinite = true}); });
}

TEST(RidgePath, RefusesBadLambdas) {
  const Matrix<double> k = line_gram<double>(3);
  const Matrix<double> y = wavy_targets(3, 1);
  EXPECT_THROW((void)ridge_path(k.view(), y.view(), {}), Error);
  for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const std::vector<double> lambdas{1.0, bad};
    EXPECT_THROW((void)ridge_path(k.view(), y.view(), lambdas), Error);
  }
}

TEST(RidgePath, StopsWhenAsked) {
  const Matrix<double> k = line_gram<double>(60);
  const Matrix<double> y = wavy_targets(60, 1);
  const std::vector<double> lambdas{1.0};
  test::Stop stop;
  try {
    (void)ridge_path(k.view(), y.view(), lambdas, {.progress = &stop});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
  }
}

}  // namespace
}  // namespace widelimit
