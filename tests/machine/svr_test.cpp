#include "widelimit/machine/svm/svr.hpp"

#include "tests/machine/box_fixture.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit {
namespace {

Matrix<double> waves(Index n, Index outputs) {
  Matrix<double> targets(n, outputs);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < outputs; ++j) targets(i, j) = 2 * std::sin(0.7 * static_cast<double>(i * (j + 1))) + 0.5;
  }
  return targets;
}

/// Checks the objectives by definition, summed over outputs.
void expect_optimal(const Matrix<double>& gram, const Matrix<double>& y, const Fit& fit, const SvrOptions& options) {
  ASSERT_TRUE(fit.summary.converged()) << fit.summary.message;
  double primal = 0;
  double dual = 0;
  double size = 0;
  for (Index c = 0; c < y.cols(); ++c) {
    const auto g = values(gram, fit, c);
    const double norm = squared_norm(gram, fit, c);
    primal += options.lambda / 2 * norm;
    dual -= options.lambda / 2 * norm;
    double sum = 0;
    for (Index i = 0; i < y.rows(); ++i) {
      const double weight = options.weights.empty() ? 1 : options.weights[static_cast<std::size_t>(i)];
      const double a = fit.alpha(i, c);
      primal += weight * std::max(0.0, std::abs(y(i, c) - g[static_cast<std::size_t>(i)]) - options.epsilon);
      dual += options.lambda * (y(i, c) * a - options.epsilon * std::abs(a));
      ASSERT_LE(std::abs(a), weight / options.lambda * (1 + 1e-12));
      sum += a;
      size += std::abs(a);
    }
    if (options.bias) {
      EXPECT_NEAR(sum, 0, 1e-12 * size);
    } else {
      EXPECT_EQ(fit.bias[static_cast<std::size_t>(c)], 0);
    }
  }
  const double noise = 1e-15 * size * static_cast<double>(y.rows());
  EXPECT_LE(primal - dual, 1.1e-6 * std::max(std::abs(primal), std::abs(dual)) + noise);
  EXPECT_GE(primal - dual, -1e-9 * std::abs(primal) - noise);
  EXPECT_NEAR(*fit.summary.primal, primal, 1e-9 * std::abs(primal) + noise);
  // A lower bound: rounding is included and takes at most a fraction of the tolerance.
  EXPECT_LE(*fit.summary.dual, dual + 1e-13 * std::abs(primal) + noise);
  EXPECT_GE(*fit.summary.dual, dual - 1e-7 * std::abs(primal) - noise);
  EXPECT_GE(*fit.summary.gap * std::abs(primal), primal - dual - noise - 1e-13 * std::abs(primal));
}

TEST(Svr, ClosesTheGapByDefinition) {
  for (const Index n : {1, 2, 37, 150}) {
    const Clouds data = clouds(n, 1.0, 3);
    for (const Index outputs : {1, 3}) {
      const Matrix<double> y = waves(n, outputs);
      for (const bool bias : {false, true}) {
        for (const double epsilon : {0.0, 0.1, 1.0, 10.0}) {
          for (const double lambda : {1e-3, 0.1, 1.0, 1e12}) {
            SCOPED_TRACE(fmt::format("n {} outputs {} bias {} eps {} lambda {}", n, outputs, bias, epsilon, lambda));
            const SvrOptions options{.lambda = lambda, .epsilon = epsilon, .bias = bias};
            expect_optimal(data.gram, y, fit_svr(data.gram.view(), y.view(), options), options);
          }
        }
      }
    }
  }
}

TEST(Svr, MeetsTheConditionsOfKarushKuhnAndTucker) {
  const Clouds data = clouds(80, 1.0, 5);
  const Matrix<double> y = waves(80, 1);
  for (const bool bias : {false, true}) {
    const SvrOptions options{.lambda = 0.2, .epsilon = 0.3, .bias = bias, .tolerance = 1e-10};
    const Fit fit = fit_svr(data.gram.view(), y.view(), options);
    const auto g = values(data.gram, fit);
    for (Index i = 0; i < 80; ++i) {
      const double error = y(i, 0) - g[static_cast<std::size_t>(i)];
      const double a = fit.alpha(i, 0);
      if (a == 0) {
        EXPECT_LE(std::abs(error), options.epsilon + 1e-4);
      } else if (std::abs(a) < 1 / options.lambda) {
        EXPECT_NEAR(error, std::copysign(options.epsilon, a), 1e-4);
      } else {
        EXPECT_GE(error * a, options.epsilon * std::abs(a) - 1e-4);
      }
    }
  }
}

TEST(Svr, WeightZeroLeavesASampleOut) {
  const Clouds data = clouds(30, 1.0, 6);
  const Matrix<double> y = waves(30, 1);
  std::vector<double> weights(30, 1.0);
  weights[29] = 0;
  Matrix<double> less(29, 29);
  for (Index i = 0; i < 29; ++i) {
    for (Index j = 0; j < 29; ++j) less(i, j) = data.gram(i, j);
  }
  const Fit all = fit_svr(data.gram.view(), y.view(), {.weights = weights});
  const Fit fewer = fit_svr(less.view(), y.view().block(0, 0, 29, 1), {});
  EXPECT_EQ(all.alpha(29, 0), 0);
  EXPECT_NEAR(*all.summary.primal, *fewer.summary.primal, 2e-6 * *fewer.summary.primal);
}

TEST(Svr, AnswersDegenerateInput) {
  const Matrix<double> zero(4, 4);
  const Matrix<double> y = waves(4, 1);
  for (const bool bias : {false, true}) {
    for (const double lambda : {1e-12, 1.0, 1e12}) {
      const SvrOptions options{.lambda = lambda, .bias = bias};
      expect_optimal(zero, y, fit_svr(zero.view(), y.view(), options), options);
    }
  }
  const Matrix<double> nothing(4, 1);
  const Fit fit = fit_svr(zero.view(), nothing.view());
  EXPECT_TRUE(fit.summary.converged());
  EXPECT_EQ(*fit.summary.gap, 0);
}

TEST(Svr, RefusesWhatIsNoProblem) {
  const Clouds data = clouds(4, 1.0, 1);
  Matrix<double> y = waves(4, 1);
  const auto refuses = [&](const MatrixView<const double>& targets, const SvrOptions& options) {
    try {
      (void)fit_svr(data.gram.view(), targets, options);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::input);
    }
  };
  refuses(y.view(), {.lambda = 0});
  refuses(y.view(), {.epsilon = -0.1});
  refuses(y.view(), {.tolerance = 2});
  refuses(y.view().block(0, 0, 3, 1), {});
  refuses(y.view().block(0, 0, 4, 0), {});
  y(2, 0) = std::numeric_limits<double>::quiet_NaN();
  refuses(y.view(), {});
}

}  // namespace
}  // namespace widelimit
