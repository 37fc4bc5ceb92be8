#include "widelimit/machine/logistic/logistic.hpp"

#include "random_gram.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace widelimit {
namespace {

using Real = long double;

/// Half of the samples in each class, with overlap.
std::vector<double> noisy_labels(const Matrix<double>& k, std::uint64_t seed = 5) {
  Noise noise(seed);
  std::vector<double> y;
  for (Index i = 0; i < k.rows(); ++i) y.push_back(k(i, 0) + 0.3 * noise() > 0 ? 1 : -1);
  if (std::accumulate(y.begin(), y.end(), 0.0) == static_cast<double>(k.rows())) y.back() = -1;
  return y;
}

/// Returns P(α, b) by its definition.
Real objective(const Matrix<double>& k, const std::vector<double>& y, const std::vector<Real>& alpha, Real b,
               const LogisticOptions& options) {
  Real value = 0;
  for (Index i = 0; i < k.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    Real h = 0;
    for (Index j = 0; j < k.rows(); ++j) h += k(i, j) * alpha[static_cast<std::size_t>(j)];
    const Real m = y[at] * (h + b);
    const Real w = options.weights.empty() ? 1 : options.weights[at];
    value += options.lambda / 2 * alpha[at] * h + w * (m > 0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m);
  }
  return value;
}

std::vector<Real> coefficients(const Fit& fit) { return {fit.alpha.data(), fit.alpha.data() + fit.alpha.rows()}; }

/// Accelerated gradient descent with restarts in the feature space, independent of Newton's method.
Real descended(const Matrix<double>& k, const std::vector<double>& y, const LogisticOptions& options) {
  const Index n = k.rows();
  const auto size = static_cast<std::size_t>(n);
  Real trace = options.bias ? static_cast<Real>(n) : 0;
  for (Index i = 0; i < n; ++i) trace += k(i, i);
  const Real step = 1 / (options.lambda + trace);
  std::vector<Real> alpha(size);
  std::vector<Real> ahead(size);
  Real b = 0;
  Real b_ahead = 0;
  Real momentum = 1;
  Real best = objective(k, y, alpha, b, options);
  for (int iteration = 0; iteration < 6000; ++iteration) {
    std::vector<Real> next(size);
    Real offset = 0;
    for (std::size_t i = 0; i < size; ++i) {
      Real h = b_ahead;
      for (std::size_t j = 0; j < size; ++j) h += k(static_cast<Index>(i), static_cast<Index>(j)) * ahead[j];
      const Real w = options.weights.empty() ? 1 : options.weights[i];
      const Real r = w * y[i] / (1 + std::exp(y[i] * h));
      next[i] = ahead[i] - step * (options.lambda * ahead[i] - r);
      offset += r;
    }
    const Real b_next = options.bias ? b_ahead + step * offset : 0;
    Real faster = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    const Real value = objective(k, y, next, b_next, options);
    const bool rose = value > best;
    const Real pull = rose ? 0 : (momentum - 1) / faster;
    momentum = rose ? 1 : faster;
    for (std::size_t i = 0; i < size; ++i) ahead[i] = next[i] + pull * (next[i] - alpha[i]);
    b_ahead = b_next + pull * (b_next - b);
    alpha = next;
    b = b_next;
    best = value;
  }
  return best;
}

TEST(Logistic, AgreesWithGradientDescent) {
  for (const bool bias : {false, true}) {
    for (const double lambda : {0.05, 1.0, 30.0}) {
      const Matrix<double> k = random_gram(12, 4);
      const std::vector<double> y = noisy_labels(k);
      const LogisticOptions options{.lambda = lambda, .bias = bias};
      const Fit fit = fit_logistic(k.view(), y, options);
      ASSERT_TRUE(fit.summary.converged()) << fit.summary.message;
      const Real expected = descended(k, y, options);
      const Real reached = objective(k, y, coefficients(fit), fit.bias[0], options);
      // The gap bounds the distance to the minimum; gradient descent ends slightly above it.
      EXPECT_NEAR(static_cast<double>(reached / expected), 1.0, 2e-8) << lambda << ' ' << bias;
      EXPECT_NEAR(*fit.summary.primal, static_cast<double>(reached), 1e-13 * static_cast<double>(reached));
      EXPECT_LE(*fit.summary.dual, static_cast<double>(expected) * (1 + 1e-14));
    }
  }
}

TEST(Logistic, IsAMinimumByFiniteDifferences) {
  const Matrix<double> k = random_gram(37, 5);
  const std::vector<double> y = noisy_labels(k);
  const LogisticOptions options{.lambda = 0.3, .bias = true, .tolerance = 1e-14};
  const Fit fit = fit_logistic(k.view(), y, options);
  ASSERT_TRUE(fit.summary.converged()) << fit.summary.message;
  const Real step = 1e-5L;
  for (std::size_t i = 0; i <= y.size(); ++i) {
    const auto moved = [&](Real by) {
      std::vector<Real> alpha = coefficients(fit);
      Real b = fit.bias[0];
      (i < y.size() ? alpha[i] : b) += by;
      return objective(k, y, alpha, b, options);
    };
    // Second order: the error is step²/6 times a third derivative of at most Σ|K_ij|³.
    EXPECT_NEAR(static_cast<double>((moved(step) - moved(-step)) / (2 * step)), 0.0, 3e-7) << i;
  }
}

TEST(Logistic, EndsForEveryLambda) {
  for (const Index rank : {3, 60}) {
    const Matrix<double> k = random_gram(37, rank);
    const std::vector<double> y = noisy_labels(k);
    for (const bool bias : {false, true}) {
      for (double lambda = 1e-12; lambda < 2e12; lambda *= 10) {
        const Fit fit = fit_logistic(k.view(), y, {.lambda = lambda, .bias = bias});
        EXPECT_TRUE(fit.summary.converged()) << lambda << ' ' << rank << ' ' << bias << ' ' << fit.summary.message;
        EXPECT_LE(*fit.summary.gap, 1e-8);
        EXPECT_LE(fit.summary.iterations, 60) << lambda;
        for (Index i = 0; i < 37; ++i) ASSERT_TRUE(std::isfinite(fit.alpha(i, 0)));
        if (bias && lambda > 1e-7) {  // below, α may come from the features and is accurate only in Kα
          double total = 0;
          double largest = 0;
          for (Index i = 0; i < 37; ++i) {
            total += fit.alpha(i, 0);
            largest = std::max(largest, std::fabs(fit.alpha(i, 0)));
          }
          EXPECT_NEAR(total, 0, 1e-3 * largest) << lambda;
        }
      }
    }
  }
}

TEST(Logistic, WeightsAreRepeatedSamples) {
  const Matrix<double> k = random_gram(9, 3);
  const std::vector<double> y = noisy_labels(k);
  const std::vector<double> weights{1, 2, 0, 3, 1, 1, 2, 1, 1};
  std::vector<Index> rows;
  for (Index i = 0; i < 9; ++i)
    rows.insert(rows.end(), static_cast<std::size_t>(weights[static_cast<std::size_t>(i)]), i);
  const Index n = std::ssize(rows);
  Matrix<double> repeated(n, n);
  std::vector<double> labels;
  for (Index i = 0; i < n; ++i) {
    labels.push_back(y[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]);
    for (Index j = 0; j < n; ++j) {
      repeated(i, j) = k(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(j)]);
    }
  }
  for (const bool bias : {false, true}) {
    const LogisticOptions plain{.lambda = 0.2, .bias = bias, .tolerance = 1e-13};
    LogisticOptions weighted = plain;
    weighted.weights = weights;
    const Fit one = fit_logistic(k.view(), y, weighted);
    const Fit two = fit_logistic(repeated.view(), labels, plain);
    EXPECT_NEAR(*one.summary.primal, *two.summary.primal, 1e-12);
    EXPECT_NEAR(one.bias[0], two.bias[0], 1e-5);
    EXPECT_EQ(one.alpha(2, 0), 0);
    for (Index i = 0; i < 9; ++i) {
      double sum = 0;
      for (Index j = 0; j < n; ++j) sum += rows[static_cast<std::size_t>(j)] == i ? two.alpha(j, 0) : 0;
      EXPECT_NEAR(one.alpha(i, 0), sum, 1e-5);
    }
  }
}

TEST(Logistic, KnowsTheDegenerateCases) {
  const std::vector<double> y{1, -1, 1};
  const Matrix<double> zero(3, 3);
  Fit fit = fit_logistic(zero.view(), y, {.lambda = 0.5});
  EXPECT_TRUE(fit.summary.converged());
  EXPECT_DOUBLE_EQ(*fit.summary.primal, 3 * std::log(2.0));
  fit = fit_logistic(zero.view(), y, {.lambda = 0.5, .bias = true, .tolerance = 1e-14});
  EXPECT_TRUE(fit.summary.converged());
  EXPECT_NEAR(fit.bias[0], std::log(2.0), 1e-7);  // the log odds

  // Identical samples with opposite labels cancel.
  Matrix<double> same(2, 2);
  std::fill_n(same.data(), 4, 1.0);
  fit = fit_logistic(same.view(), std::vector<double>{1, -1}, {.lambda = 1e-12, .tolerance = 1e-14});
  EXPECT_TRUE(fit.summary.converged());
  EXPECT_NEAR(*fit.summary.primal, 2 * std::log(2.0), 1e-14);
}

TEST(Logistic, TakesAFloatGram) {
  const Matrix<double> k = random_gram(37, 50);
  Matrix<float> rounded(37, 37);
  std::copy_n(k.data(), 37 * 37, rounded.data());
  const std::vector<double> y = noisy_labels(k);
  const Fit a = fit_logistic(k.view(), y, {.lambda = 0.1});
  const Fit b = fit_logistic(rounded.view(), y, {.lambda = 0.1});
  EXPECT_TRUE(b.summary.converged());
  EXPECT_NEAR(*a.summary.primal / *b.summary.primal, 1, 1e-6);
}

TEST(Logistic, NamesTheRidgeThatCuresAnIndefiniteGram) {
  Matrix<double> k(2, 2);
  k(0, 1) = k(1, 0) = 1;  // eigenvalues ±1
  const std::vector<double> y{1, -1};
  const Fit fit = fit_logistic(k.view(), y, {.lambda = 1e-3});
  EXPECT_EQ(fit.summary.ending, Ending::not_positive_definite);
  EXPECT_NE(fit.summary.message.find("diagonal"), std::string::npos) << fit.summary.message;
  EXPECT_TRUE(std::isfinite(fit.alpha(0, 0)));
}

TEST(Logistic, RefusesBadInput) {
  const Matrix<double> k = random_gram(3, 2);
  const std::vector<double> y{1, -1, 1};
  const auto refused = [](const AnyView& gram, const std::vector<double>& labels, const LogisticOptions& options) {
    try {
      (void)fit_logistic(gram, labels, options);
    } catch (const Error& error) {
      return error.code() == Code::input;
    }
    return false;
  };
  EXPECT_TRUE(refused(k.view(), {1, -1}, {}));
  EXPECT_TRUE(refused(k.view(), {1, 1, 1}, {}));
  EXPECT_TRUE(refused(k.view(), {1, 0, 1}, {}));
  EXPECT_TRUE(refused(random_gram(1, 1).view(), {1}, {}));
  EXPECT_TRUE(refused(k.view().block(0, 0, 2, 3), {1, -1}, {}));
  EXPECT_TRUE(refused(Matrix<double>(0, 0).view(), {}, {}));
  const std::vector<double> one_sided{1, 0, 1};
  EXPECT_TRUE(refused(k.view(), y, {.weights = one_sided}));
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_TRUE(refused(k.view(), y, {.lambda = bad}));
    EXPECT_TRUE(refused(k.view(), y, {.tolerance = bad}));
  }
  Matrix<float> broken(2, 2);
  broken(0, 1) = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(refused(broken.view(), {1, -1}, {}));
}

TEST(Logistic, TellsTheConditionOfItsFactor) {
  // B = I + K/(4λ) at α = 0; for K = diag(1, 9) the first step factorises diag(1 + 1/4λ, 1 + 9/4λ).
  Matrix<double> k(2, 2);
  k(0, 0) = 1;
  k(1, 1) = 9;
  const double y[]{1, -1};
  const Fit fit = fit_logistic(k.view(), y, {.lambda = 0.25, .tolerance = 0.5, .max_iterations = 1});
  ASSERT_TRUE(fit.summary.condition);
  EXPECT_GE(*fit.summary.condition, 1);
  EXPECT_LE(*fit.summary.condition, 5 + 1e-12);
}

TEST(Logistic, StopsInsideAFactorisation) {
  struct Later : Progress {
    int calls = 0;
    bool update(std::int64_t, std::int64_t, std::string_view unit) override {
      // The test of K comes first, on a device by its own factorisation.
      EXPECT_TRUE(unit == "tiles" || unit == "rows of a factor" || unit == "iterations") << unit;
      return ++calls < 4;
    }
  } later;
  const Matrix<double> k = random_gram(40, 40);
  std::vector<double> y;
  for (Index i = 0; i < 40; ++i) y.push_back(i % 2 == 0 ? 1 : -1);
  EXPECT_THROW((void)fit_logistic(k.view(), y, {.progress = &later}), Error);
  EXPECT_EQ(later.calls, 4);
}

}  // namespace
}  // namespace widelimit
