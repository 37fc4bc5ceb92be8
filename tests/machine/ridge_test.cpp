#include "widelimit/machine/ridge/ridge.hpp"

#include "tests/machine/elimination.hpp"
#include "tests/machine/random_gram.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/ridge/ridge_proof.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace widelimit {
namespace {

using test::eliminate;
using test::Extended;
using test::line_gram;
using test::Rows;
using test::wavy_targets;

/// Returns α, followed by b, of output j, from [K + λ/2·W⁻¹, 1; 1ᵀ, 0] in long double.
template <typename T>
std::vector<Extended> solution(const Matrix<T>& k, const Matrix<double>& y, Index output, double lambda, bool bias,
                               const std::vector<double>& weights = {}) {
  const auto n = static_cast<std::size_t>(k.rows());
  const std::size_t size = n + (bias ? 1 : 0);
  Rows a(size, std::vector<Extended>(size));
  std::vector<Extended> b(size);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      a[i][j] = static_cast<Extended>(k(static_cast<Index>(i), static_cast<Index>(j)));
    a[i][i] += static_cast<Extended>(lambda) / 2 / (weights.empty() ? 1 : static_cast<Extended>(weights[i]));
    b[i] = static_cast<Extended>(y(static_cast<Index>(i), output));
    if (bias) a[i][n] = a[n][i] = 1;
  }
  return eliminate(a, b);
}

template <typename T>
void expect_solution(const Matrix<T>& k, const RidgeOptions& options, double tolerance) {
  const Matrix<double> y = wavy_targets(k.rows(), 3);
  const Fit fit = fit_ridge(k.view(), y.view(), options);
  ASSERT_TRUE(fit.summary.converged()) << fit.summary.message;
  const std::vector<double> weights(options.weights.begin(), options.weights.end());
  for (Index j = 0; j < 3; ++j) {
    const auto expected = solution(k, y, j, options.lambda, options.bias, weights);
    Extended largest = 0;
    for (const Extended value : expected) largest = std::max(largest, std::fabs(value));
    for (Index i = 0; i < k.rows(); ++i) {
      EXPECT_NEAR(fit.alpha(i, j), static_cast<double>(expected[static_cast<std::size_t>(i)]),
                  tolerance * static_cast<double>(largest));
    }
    const double bias = options.bias ? static_cast<double>(expected.back()) : 0.0;
    EXPECT_NEAR(fit.bias[static_cast<std::size_t>(j)], bias, tolerance * static_cast<double>(largest));
  }
}

/// XXᵀ/d − 0.8·I: eigenvalues on both sides of −λ/2, condition number below 1e4, so that 1e-10 exceeds 100 κ ε.
TEST(Ridge, SolvesIndefiniteSystemsWhereItIsAskedTo) {
  Matrix<double> k = random_gram(70, 90);
  for (Index i = 0; i < 70; ++i) k(i, i) -= 0.8;
  std::vector<double> weights;
  for (Index i = 0; i < 70; ++i) weights.push_back(i % 3 == 0 ? 2.0 : 0.5);
  for (const double lambda : {0.0, 0.3}) {
    for (const bool bias : {false, true}) {
      expect_solution(k, {.lambda = lambda, .bias = bias, .indefinite = true}, 1e-10);
      if (lambda > 0) {
        expect_solution(k, {.lambda = lambda, .bias = bias, .weights = weights, .indefinite = true}, 1e-10);
      }
    }
  }
  const Matrix<double> y = wavy_targets(70, 1);
  const Fit solved = fit_ridge(k.view(), y.view(), {.lambda = 0.3, .indefinite = true});
  EXPECT_LT(*solved.summary.gradient, 1e-10);
  EXPECT_FALSE(solved.summary.primal || solved.summary.gap);
  EXPECT_NE(solved.summary.message.find("indefinite"), std::string::npos);
  EXPECT_EQ(fit_ridge(k.view(), y.view(), {.lambda = 0.3}).summary.ending, Ending::not_positive_definite);
  // K + λ/2 = diag(2, 0).
  Matrix<double> singular(2, 2);
  singular(0, 0) = 1;
  singular(1, 1) = -1;
  const Fit failed = fit_ridge(singular.view(), wavy_targets(2, 1).view(), {.lambda = 2, .indefinite = true});
  EXPECT_EQ(failed.summary.ending, Ending::not_positive_definite);
  EXPECT_EQ(failed.alpha(0, 0), 0);
}

TEST(Ridge, SolvesTheNormalEquations) {
  for (const Index n : {1, 2, 37}) {
    for (const double lambda : {0.0, 1e-12, 1e-2, 1.0, 1e12}) {
      for (const bool bias : {false, true}) {
        SCOPED_TRACE(testing::Message() << n << ' ' << lambda << ' ' << bias);
        expect_solution(line_gram<double>(n), {.lambda = lambda, .bias = bias}, 1e-11);
        expect_solution(line_gram<float>(n), {.lambda = lambda, .bias = bias}, 1e-11);
        expect_solution(line_gram<double>(n), {.lambda = lambda, .bias = bias, .factor = FactorPrecision::f32}, 1e-11);
      }
    }
  }
}

TEST(Ridge, LeavesNoResidualWhereTheFactorHasSeveralBlocks) {
  const Index n = 1100;
  const Matrix<double> k = line_gram<double>(n);
  const Matrix<double> y = wavy_targets(n, 1);
  for (const FactorPrecision factor : {FactorPrecision::f32, FactorPrecision::f64}) {
    const Fit fit = fit_ridge(k.view(), y.view(), {.lambda = 0.5, .factor = factor});
    for (Index i = 0; i < n; ++i) {
      Extended residual = static_cast<Extended>(y(i, 0)) - Extended(0.25) * static_cast<Extended>(fit.alpha(i, 0));
      for (Index j = 0; j < n; ++j) residual -= static_cast<Extended>(k(i, j)) * static_cast<Extended>(fit.alpha(j, 0));
      EXPECT_NEAR(static_cast<double>(residual), 0, 1e-12);
    }
  }
}

TEST(Ridge, FallsBackToFloat64WhereFloat32CannotBeRefined) {
  const Matrix<double> k = line_gram<double>(40, 0.0);
  const Matrix<double> y = wavy_targets(40, 1);
  Matrix<double> close = line_gram<double>(40, 0.0);
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 40; ++j) close(i, j) = 1 + 1e-8 * k(i, j);  // a float32 factor sees a rank of 1
  }
  const Fit fit = fit_ridge(close.view(), y.view(), {.lambda = 1e-9, .factor = FactorPrecision::f32});
  EXPECT_TRUE(fit.summary.converged());
  EXPECT_NE(fit.summary.method.find("float64, refined once"), std::string::npos);
  const Fit kept = fit_ridge(k.view(), y.view(), {.lambda = 1, .factor = FactorPrecision::f32});
  EXPECT_NE(kept.summary.method.find("float32"), std::string::npos);
  EXPECT_GE(kept.summary.iterations, 2);
}

TEST(Ridge, WeightsAreRepetitions) {
  const Index n = 20;
  const Matrix<double> k = line_gram<double>(n);
  const Matrix<double> y = wavy_targets(n, 2);
  std::vector<Index> copies;
  std::vector<double> weights;
  for (Index i = 0; i < n; ++i) {
    weights.push_back(static_cast<double>(i % 4));
    for (Index c = 0; c < i % 4; ++c) copies.push_back(i);
  }
  const auto repeated = static_cast<Index>(copies.size());
  Matrix<double> all(repeated, repeated);
  Matrix<double> all_y(repeated, 2);
  for (Index i = 0; i < repeated; ++i) {
    for (Index j = 0; j < repeated; ++j)
      all(i, j) = k(copies[static_cast<std::size_t>(i)], copies[static_cast<std::size_t>(j)]);
    for (Index j = 0; j < 2; ++j) all_y(i, j) = y(copies[static_cast<std::size_t>(i)], j);
  }
  for (const bool bias : {false, true}) {
    const Fit weighted = fit_ridge(k.view(), y.view(), {.lambda = 0.1, .bias = bias, .weights = weights});
    const Fit plain = fit_ridge(all.view(), all_y.view(), {.lambda = 0.1, .bias = bias});
    for (Index j = 0; j < 2; ++j) {
      std::vector<double> sums(static_cast<std::size_t>(n));
      for (Index i = 0; i < repeated; ++i)
        sums[static_cast<std::size_t>(copies[static_cast<std::size_t>(i)])] += plain.alpha(i, j);
      for (Index i = 0; i < n; ++i) EXPECT_NEAR(weighted.alpha(i, j), sums[static_cast<std::size_t>(i)], 1e-11);
      EXPECT_EQ(weighted.alpha(0, j), 0.0);
      EXPECT_NEAR(weighted.bias[static_cast<std::size_t>(j)], plain.bias[static_cast<std::size_t>(j)], 1e-11);
    }
    EXPECT_NEAR(*weighted.summary.primal, *plain.summary.primal, 1e-11 * *plain.summary.primal);
    EXPECT_NEAR(*weighted.summary.dual, *plain.summary.dual, 1e-11 * *plain.summary.primal);
  }
}

double primal(const Matrix<double>& k, const Matrix<double>& y, const Matrix<double>& alpha, double b, double lambda) {
  Extended norm = 0;
  Extended loss = 0;
  for (Index i = 0; i < k.rows(); ++i) {
    Extended g = 0;
    for (Index j = 0; j < k.rows(); ++j) g += static_cast<Extended>(k(i, j)) * static_cast<Extended>(alpha(j, 0));
    norm += static_cast<Extended>(alpha(i, 0)) * g;
    const Extended r = static_cast<Extended>(y(i, 0)) - g - static_cast<Extended>(b);
    loss += r * r;
  }
  return static_cast<double>(static_cast<Extended>(lambda) / 2 * norm + loss);
}

TEST(Ridge, NoStepLowersThePrimalWhichTheDualMeets) {
  const Matrix<double> k = line_gram<double>(37);
  const Matrix<double> y = wavy_targets(37, 1);
  for (const bool bias : {false, true}) {
    Fit fit = fit_ridge(k.view(), y.view(), {.lambda = 0.5, .bias = bias});
    const double best = primal(k, y, fit.alpha, fit.bias[0], 0.5);
    EXPECT_NEAR(*fit.summary.primal, best, 1e-13 * best);
    // Bounds include 37 roundings of sums √K_ii Σ√K_jj|α_j|, here some hundred times the objective.
    EXPECT_LE(*fit.summary.dual, best);
    EXPECT_NEAR(*fit.summary.dual, best, 1e-11 * best);
    EXPECT_LE(*fit.summary.gap, 1e-11);
    EXPECT_LE(*fit.summary.gradient, 1e-12);
    const double h = 1e-4;
    for (Index i = 0; i < 37; ++i) {
      const double at = fit.alpha(i, 0);
      fit.alpha(i, 0) = at + h;
      const double right = primal(k, y, fit.alpha, fit.bias[0], 0.5);
      fit.alpha(i, 0) = at - h;
      const double left = primal(k, y, fit.alpha, fit.bias[0], 0.5);
      fit.alpha(i, 0) = at;
      EXPECT_NEAR((right - left) / (2 * h), 0, 1e-9);
      EXPECT_GT(right, best);
      EXPECT_GT(left, best);
    }
    if (bias) {
      EXPECT_GT(primal(k, y, fit.alpha, fit.bias[0] + h, 0.5), best);
      EXPECT_GT(primal(k, y, fit.alpha, fit.bias[0] - h, 0.5), best);
    }
  }
}

TEST(Ridge, GapIsThatOfThePrimalAwayFromTheSolution) {
  const Matrix<double> k = line_gram<double>(10);
  const Matrix<double> y = wavy_targets(10, 1);
  Fit fit = fit_ridge(k.view(), y.view(), {.lambda = 0.5});
  const double best = *fit.summary.primal;
  fit.alpha(3, 0) += 0.1;
  prove_ridge(k.view(), {y.view(), 0.5}, fit, nullptr);
  EXPECT_NEAR(*fit.summary.primal, primal(k, y, fit.alpha, 0, 0.5), 1e-12);
  EXPECT_LT(*fit.summary.dual, best);
  double dual = 0;
  for (Index i = 0; i < 10; ++i) {
    double g = 0;
    for (Index j = 0; j < 10; ++j) g += k(i, j) * fit.alpha(j, 0);
    dual += 0.5 * fit.alpha(i, 0) * (y(i, 0) - g / 2 - 0.5 / 4 * fit.alpha(i, 0) * 1);
  }
  EXPECT_NEAR(*fit.summary.dual, dual, 1e-12);
}

TEST(Regression, Interpolates) {
  const Matrix<double> k = line_gram<double>(37);
  const Matrix<double> y = wavy_targets(37, 2);
  std::vector<double> weights(37, 3.0);
  weights[5] = 0;
  const Fit fit = fit_regression(k.view(), y.view(), {.lambda = 7, .weights = weights});
  EXPECT_FALSE(fit.summary.dual);
  const Matrix<double> g = decision(fit, k.view());
  for (Index i = 0; i < 37; ++i) {
    if (i == 5) {
      EXPECT_EQ(fit.alpha(i, 0), 0.0);
    } else {
      EXPECT_NEAR(g(i, 1), y(i, 1), 1e-12);
    }
  }
}

TEST(Regression, IdenticalRowsHaveNoInterpolantButACure) {
  Matrix<double> k(2, 2);
  k(0, 0) = k(0, 1) = k(1, 0) = k(1, 1) = 2;
  Matrix<double> y(2, 1);
  y(0, 0) = 1;
  y(1, 0) = -1;
  const Fit fit = fit_regression(k.view(), y.view());
  EXPECT_EQ(fit.summary.ending, Ending::not_positive_definite);
  EXPECT_NE(fit.summary.message.find("order 2"), std::string::npos) << fit.summary.message;
  EXPECT_EQ(fit.alpha(0, 0), 0.0);
  EXPECT_EQ(fit.alpha(1, 0), 0.0);
  const Fit shifted = fit_ridge(k.view(), y.view(), {.lambda = 1e-12});
  EXPECT_TRUE(shifted.summary.converged()) << shifted.summary.message;
}

TEST(Regression, OfAZeroGramIsRefusedRidgeIsZero) {
  for (const Index n : {1, 5}) {
    const Matrix<double> k(n, n);
    const Matrix<double> y = wavy_targets(n, 1);
    EXPECT_EQ(fit_regression(k.view(), y.view()).summary.ending, Ending::not_positive_definite);
    const Fit ridge = fit_ridge(k.view(), y.view(), {.lambda = 1, .bias = true});
    ASSERT_TRUE(ridge.summary.converged());
    double mean = 0;
    for (Index i = 0; i < n; ++i) mean += y(i, 0) / static_cast<double>(n);
    EXPECT_NEAR(ridge.bias[0], mean, 1e-14);
  }
}

TEST(Ridge, SuggestsALambdaThatCures) {
  for (const double depth : {0.1, 0.7}) {
    Matrix<double> k = line_gram<double>(50);
    for (Index i = 0; i < 50; ++i) k(i, i) -= depth;
    const Matrix<double> y = wavy_targets(50, 1);
    const Fit fit = fit_ridge(k.view(), y.view(), {.lambda = 1e-9});
    ASSERT_EQ(fit.summary.ending, Ending::not_positive_definite);
    const std::string& message = fit.summary.message;
    const std::string before = "lambda of ";
    const double lambda = std::stod(message.substr(message.find(before) + before.size()));
    EXPECT_TRUE(fit_ridge(k.view(), y.view(), {.lambda = lambda}).summary.converged()) << message;
    EXPECT_EQ(fit_ridge(k.view(), y.view(), {.lambda = lambda / 2}).summary.ending, Ending::not_positive_definite);
  }
}

TEST(Ridge, EndsInASummaryWhereCoefficientsOverflow) {
  Matrix<double> k(1, 1);
  k(0, 0) = 1e-300;
  Matrix<double> y(1, 1);
  y(0, 0) = 1e200;
  const Fit fit = fit_regression(k.view(), y.view());
  EXPECT_FALSE(fit.summary.converged());
  EXPECT_EQ(fit.alpha(0, 0), 0.0);
}

TEST(Ridge, RefusesBadInput) {
  const Matrix<double> k = line_gram<double>(3);
  const Matrix<double> y = wavy_targets(3, 1);
  const Matrix<double> empty(0, 0);
  const auto refused = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code() == Code::input;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { (void)fit_ridge(empty.view(), empty.view()); }));
  EXPECT_TRUE(refused([&] { (void)fit_ridge(k.view(), wavy_targets(2, 1).view()); }));
  EXPECT_TRUE(refused([&] { (void)fit_ridge(k.view(), Matrix<double>(3, 0).view()); }));
  EXPECT_TRUE(refused([&] { (void)fit_ridge(k.view(), y.view(), {.lambda = -1}); }));
  EXPECT_TRUE(refused([&] { (void)fit_ridge(k.view(), y.view(), {.lambda = std::nan("")}); }));
  const std::vector<double> two{1, 1};
  EXPECT_TRUE(refused([&] { (void)fit_ridge(k.view(), y.view(), {.weights = two}); }));
  Matrix<double> infinite = wavy_targets(3, 1);
  infinite(1, 0) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(refused([&] { (void)fit_ridge(k.view(), infinite.view()); }));
}

TEST(Ridge, StopsWhenAsked) {
  const Matrix<double> k = line_gram<double>(60);
  const Matrix<double> y = wavy_targets(60, 1);
  test::Stop stop;
  try {
    (void)fit_ridge(k.view(), y.view(), {.progress = &stop});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
  }
}

}  // namespace
}  // namespace widelimit
