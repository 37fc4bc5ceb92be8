#include "widelimit/machine/logistic/softmax.hpp"

#include "random_gram.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/logistic/softmax_newton.hpp"
#include "widelimit/machine/probability/probability.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace widelimit {
namespace {

using Real = long double;

/// Classes from a few entries of K, with noise; every class occurs.
std::vector<Index> noisy_classes(const Matrix<double>& k, Index classes, std::uint64_t seed = 3) {
  Noise noise(seed);
  std::vector<Index> y;
  for (Index i = 0; i < k.rows(); ++i) {
    std::vector<double> score;
    for (Index c = 0; c < classes; ++c) score.push_back(k(i, c) + 0.3 * noise());
    y.push_back(i < classes ? i : std::max_element(score.begin(), score.end()) - score.begin());
  }
  return y;
}

/// Returns the objective by its definition; alpha is samples × classes, followed by the bias.
Real objective(const Matrix<double>& k, const std::vector<Index>& y, Index classes, const std::vector<Real>& x,
               const LogisticOptions& options) {
  const Index n = k.rows();
  Real value = 0;
  for (Index i = 0; i < n; ++i) {
    std::vector<Real> g;
    for (Index c = 0; c < classes; ++c) {
      Real h = 0;
      for (Index j = 0; j < n; ++j) h += k(i, j) * x[static_cast<std::size_t>(j * classes + c)];
      value += options.lambda / 2 * h * x[static_cast<std::size_t>(i * classes + c)];
      g.push_back(h + x[static_cast<std::size_t>(n * classes + c)]);
    }
    const Real top = *std::max_element(g.begin(), g.end());
    Real sum = 0;
    for (const Real each : g) sum += std::exp(each - top);
    const Real w = options.weights.empty() ? 1 : options.weights[static_cast<std::size_t>(i)];
    value += w * (top + std::log(sum) - g[static_cast<std::size_t>(y[static_cast<std::size_t>(i)])]);
  }
  return value;
}

std::vector<Real> unknowns(const Fit& fit) {
  std::vector<Real> x(fit.alpha.data(), fit.alpha.data() + fit.alpha.rows() * fit.alpha.cols());
  x.insert(x.end(), fit.bias.begin(), fit.bias.end());
  return x;
}

/// Plain gradient descent in the feature space.
Real descended(const Matrix<double>& k, const std::vector<Index>& y, Index classes, const LogisticOptions& options,
               int iterations) {
  const Index n = k.rows();
  Real trace = options.bias ? static_cast<Real>(n) : 0;
  for (Index i = 0; i < n; ++i) trace += k(i, i);
  const Real step = 1 / (options.lambda + trace / 2);  // the softmax Hessian is at most 1/2
  std::vector<Real> x(static_cast<std::size_t>((n + 1) * classes));
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::vector<Real> next = x;
    for (Index i = 0; i < n; ++i) {
      std::vector<Real> e;
      for (Index c = 0; c < classes; ++c) {
        Real g = x[static_cast<std::size_t>(n * classes + c)];
        for (Index j = 0; j < n; ++j) g += k(i, j) * x[static_cast<std::size_t>(j * classes + c)];
        e.push_back(std::exp(g));
      }
      const Real sum = std::accumulate(e.begin(), e.end(), Real{0});
      for (Index c = 0; c < classes; ++c) {
        const Real r = (y[static_cast<std::size_t>(i)] == c ? 1 : 0) - e[static_cast<std::size_t>(c)] / sum;
        next[static_cast<std::size_t>(i * classes + c)] +=
            step * (r - options.lambda * x[static_cast<std::size_t>(i * classes + c)]);
        if (options.bias) next[static_cast<std::size_t>(n * classes + c)] += step * r;
      }
    }
    x = next;
  }
  return objective(k, y, classes, x, options);
}

TEST(Softmax, AgreesWithGradientDescent) {
  const Matrix<double> k = random_gram(10, 3);
  const std::vector<Index> y = noisy_classes(k, 3);
  for (const bool bias : {false, true}) {
    for (const double lambda : {0.3, 20.0}) {
      const LogisticOptions options{.lambda = lambda, .bias = bias};
      const Fit fit = fit_softmax(k.view(), y, 3, options);
      ASSERT_TRUE(fit.summary.converged()) << fit.summary.message;
      const Real reached = objective(k, y, 3, unknowns(fit), options);
      const Real expected = descended(k, y, 3, options, 3000);
      EXPECT_NEAR(static_cast<double>(reached / expected), 1.0, 2e-8) << lambda << ' ' << bias;
      EXPECT_NEAR(*fit.summary.primal, static_cast<double>(reached), 1e-12 * static_cast<double>(reached));
      EXPECT_LE(*fit.summary.dual, static_cast<double>(expected) * (1 + 1e-14));
    }
  }
}

TEST(Softmax, IsAMinimumByFiniteDifferences) {
  const Matrix<double> k = random_gram(37, 5);
  const std::vector<Index> y = noisy_classes(k, 3);
  const LogisticOptions options{.lambda = 0.3, .bias = true, .tolerance = 1e-13};
  const Fit fit = fit_softmax(k.view(), y, 3, options);
  ASSERT_TRUE(fit.summary.converged()) << fit.summary.message;
  const Real step = 1e-5L;
  for (std::size_t i = 0; i < 38 * 3; ++i) {
    const auto moved = [&](Real by) {
      std::vector<Real> x = unknowns(fit);
      x[i] += by;
      return objective(k, y, 3, x, options);
    };
    EXPECT_NEAR(static_cast<double>((moved(step) - moved(-step)) / (2 * step)), 0.0, 1e-6) << i;
  }
  for (Index i = 0; i < 37; ++i) EXPECT_NEAR(fit.alpha(i, 0) + fit.alpha(i, 1) + fit.alpha(i, 2), 0, 1e-12);
  EXPECT_NEAR(fit.bias[0] + fit.bias[1] + fit.bias[2], 0, 1e-10);
}

TEST(Softmax, OfTwoClassesIsLogisticAtHalfLambda) {
  const Matrix<double> k = random_gram(37, 6);
  const std::vector<Index> y = noisy_classes(k, 2);
  std::vector<double> signs;
  for (const Index label : y) signs.push_back(label == 1 ? 1 : -1);
  for (const bool bias : {false, true}) {
    for (const double lambda : {1e-3, 0.4, 50.0}) {
      const Fit two = fit_softmax(k.view(), y, 2, {.lambda = lambda, .bias = bias, .tolerance = 1e-13});
      const Fit one = fit_logistic(k.view(), signs, {.lambda = lambda / 2, .bias = bias, .tolerance = 1e-13});
      ASSERT_TRUE(two.summary.converged() && one.summary.converged());
      EXPECT_NEAR(*two.summary.primal / *one.summary.primal, 1, 1e-12);
      const Matrix<double> g2 = decision(two, k.view());
      const Matrix<double> g1 = decision(one, k.view());
      const Matrix<double> p2 = softmax_probabilities(g2);
      const Matrix<double> p1 = logistic_probabilities(g1);
      for (Index i = 0; i < 37; ++i) {
        EXPECT_NEAR(g2(i, 1) - g2(i, 0), g1(i, 0), 1e-4);
        EXPECT_NEAR(p2(i, 1), p1(i, 1), 1e-5);
        EXPECT_NEAR(p2(i, 0) + p2(i, 1), 1, 1e-15);
      }
    }
  }
}

TEST(Softmax, EndsForEveryLambda) {
  for (const Index rank : {3, 60}) {
    const Matrix<double> k = random_gram(37, rank);
    const std::vector<Index> y = noisy_classes(k, 3);
    for (const bool bias : {false, true}) {
      for (double lambda = 1e-12; lambda < 2e12; lambda *= 10) {
        const Fit fit = fit_softmax(k.view(), y, 3, {.lambda = lambda, .bias = bias});
        EXPECT_TRUE(fit.summary.converged()) << lambda << ' ' << rank << ' ' << bias << ' ' << fit.summary.message;
        EXPECT_LE(fit.summary.iterations, 60) << lambda;
        for (Index i = 0; i < 37 * 3; ++i) ASSERT_TRUE(std::isfinite(fit.alpha.data()[i]));
      }
    }
  }
}

// Above direct_size unknowns, steps use conjugate gradients.
TEST(Softmax, ConvergesByConjugateGradients) {
  const Matrix<double> k = random_gram(400, 500);
  const std::vector<Index> y = noisy_classes(k, 5);
  for (const bool bias : {false, true}) {
    for (const double lambda : {1e-6, 1e-2, 10.0}) {
      const Fit fit = fit_softmax(k.view(), y, 5, {.lambda = lambda, .bias = bias});
      EXPECT_TRUE(fit.summary.converged()) << lambda << ' ' << fit.summary.message;
      EXPECT_NE(fit.summary.method.find("conjugate"), std::string::npos);
    }
  }
}

TEST(Softmax, WeightsAreRepeatedSamples) {
  const Matrix<double> k = random_gram(9, 3);
  const std::vector<Index> y = noisy_classes(k, 3);
  const std::vector<double> weights{1, 2, 1, 3, 0, 1, 2, 1, 1};
  std::vector<Index> rows;
  for (Index i = 0; i < 9; ++i) {
    rows.insert(rows.end(), static_cast<std::size_t>(weights[static_cast<std::size_t>(i)]), i);
  }
  const Index n = std::ssize(rows);
  Matrix<double> repeated(n, n);
  std::vector<Index> labels;
  for (Index i = 0; i < n; ++i) {
    labels.push_back(y[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]);
    for (Index j = 0; j < n; ++j) {
      repeated(i, j) = k(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(j)]);
    }
  }
  for (const bool bias : {false, true}) {
    const LogisticOptions plain{.lambda = 0.2, .bias = bias, .tolerance = 1e-12};
    LogisticOptions weighted = plain;
    weighted.weights = weights;
    const Fit one = fit_softmax(k.view(), y, 3, weighted);
    const Fit two = fit_softmax(repeated.view(), labels, 3, plain);
    EXPECT_NEAR(*one.summary.primal, *two.summary.primal, 1e-11);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(one.bias[c], two.bias[c], 1e-4);
  }
}

TEST(Softmax, KnowsTheDegenerateCases) {
  const std::vector<Index> y{0, 1, 2, 2};
  const Matrix<double> zero(4, 4);
  Fit fit = fit_softmax(zero.view(), y, 3, {.lambda = 0.5});
  EXPECT_TRUE(fit.summary.converged());
  EXPECT_NEAR(*fit.summary.primal, 4 * std::log(3.0), 1e-14);
  fit = fit_softmax(zero.view(), y, 3, {.lambda = 0.5, .bias = true, .tolerance = 1e-14});
  EXPECT_TRUE(fit.summary.converged()) << fit.summary.message;
  EXPECT_NEAR(fit.bias[2] - fit.bias[0], std::log(2.0), 1e-6);

  Matrix<double> same(3, 3);
  std::fill_n(same.data(), 9, 1.0);
  fit = fit_softmax(same.view(), std::vector<Index>{0, 1, 2}, 3, {.lambda = 1e-12});
  EXPECT_TRUE(fit.summary.converged());
  EXPECT_NEAR(*fit.summary.primal, 3 * std::log(3.0), 1e-14);

  Matrix<double> indefinite(3, 3);
  indefinite(0, 1) = indefinite(1, 0) = 1;
  fit = fit_softmax(indefinite.view(), std::vector<Index>{0, 1, 2}, 3, {});
  EXPECT_EQ(fit.summary.ending, Ending::not_positive_definite);
  EXPECT_TRUE(std::isfinite(fit.alpha(0, 0)));
}

TEST(Softmax, TakesAFloatGram) {
  const Matrix<double> k = random_gram(37, 4);
  Matrix<float> rounded(37, 37);
  std::copy_n(k.data(), 37 * 37, rounded.data());  // zero eigenvalues now have either sign
  const std::vector<Index> y = noisy_classes(k, 3);
  for (const double lambda : {1e-3, 0.1}) {
    const Fit a = fit_softmax(k.view(), y, 3, {.lambda = lambda});
    const Fit b = fit_softmax(rounded.view(), y, 3, {.lambda = lambda});
    EXPECT_TRUE(b.summary.converged()) << b.summary.message;
    EXPECT_NEAR(*a.summary.primal / *b.summary.primal, 1, 1e-5);
  }
}

TEST(Softmax, RefusesBadInput) {
  const Matrix<double> k = random_gram(4, 2);
  const auto refused = [](const AnyView& gram, const std::vector<Index>& labels, Index classes,
                          const LogisticOptions& options) {
    try {
      (void)fit_softmax(gram, labels, classes, options);
    } catch (const Error& error) {
      return error.code() == Code::input;
    }
    return false;
  };
  EXPECT_TRUE(refused(k.view(), {0, 1, 2}, 3, {}));
  EXPECT_TRUE(refused(k.view(), {0, 1, 2, 3}, 3, {}));
  EXPECT_TRUE(refused(k.view(), {0, 1, -1, 2}, 3, {}));
  EXPECT_TRUE(refused(k.view(), {0, 1, 1, 0}, 3, {}));
  EXPECT_TRUE(refused(k.view(), {0, 0, 0, 0}, 1, {}));
  EXPECT_TRUE(refused(random_gram(1, 1).view(), {0}, 1, {}));
  EXPECT_TRUE(refused(k.view(), {0, 1, 1, 0}, 1'000'000'000, {}));
  EXPECT_TRUE(refused(k.view(), {0, 1, 1, 0}, 2, {.lambda = -1}));
  const std::vector<double> without{0, 1, 1, 0};
  EXPECT_TRUE(refused(k.view(), {0, 1, 1, 0}, 2, {.weights = without}));
}

TEST(Probability, StaysBetweenZeroAndOneFarOut) {
  Matrix<double> g(3, 1);
  g(0, 0) = 800;
  g(1, 0) = -800;
  const Matrix<double> p = logistic_probabilities(g);
  EXPECT_EQ(p(0, 1), 1);
  EXPECT_EQ(p(0, 0), 0);
  EXPECT_EQ(p(1, 0), 1);
  EXPECT_EQ(p(2, 0), 0.5);
  Matrix<double> wide(1, 3);
  wide(0, 0) = 1e300;
  wide(0, 1) = -1e300;
  const Matrix<double> q = softmax_probabilities(wide);
  EXPECT_EQ(q(0, 0), 1);
  EXPECT_EQ(q(0, 1), 0);
  EXPECT_THROW((void)logistic_probabilities(wide), Error);
}

/// More unknowns than a direct step takes, and λ so small that the diagonal preconditioner is insufficient.
TEST(Softmax, ByConjugateGradientsWithAFactorTellsItsCondition) {
  const Index n = 320;
  const Matrix<double> k = random_gram(n, n);
  const std::vector<Index> y = noisy_classes(k, 5);
  const Fit fit = fit_softmax(k.view(), y, 5, {.lambda = 1e-7});
  EXPECT_TRUE(fit.summary.converged()) << fit.summary.message;
  EXPECT_LE(*fit.summary.gap, 1e-8);
  EXPECT_NE(fit.summary.method.find("conjugate"), std::string::npos);
  ASSERT_TRUE(fit.summary.condition);
  EXPECT_GE(*fit.summary.condition, 1);
}

/// Conjugate gradients: a progress callback does not change the result and can interrupt.
TEST(Softmax, IsTheSameWhoeverListens) {
  struct CountProgress : Progress {
    bool update(std::int64_t, std::int64_t, std::string_view) override { return true; }
  } progress;
  const Index n = direct_size / 3 + 20;
  const Matrix<double> k = random_gram(n, n);
  const std::vector<Index> y = noisy_classes(k, 3);
  const Fit alone = fit_softmax(k.view(), y, 3, {.lambda = 0.1});
  const Fit monitored = fit_softmax(k.view(), y, 3, {.lambda = 0.1, .progress = &progress});
  EXPECT_NE(alone.summary.method.find("conjugate gradients"), std::string::npos) << alone.summary.method;
  EXPECT_EQ(alone.summary.method, monitored.summary.method);
  for (Index i = 0; i < 3 * n; ++i) ASSERT_EQ(alone.alpha.data()[i], monitored.alpha.data()[i]);
}

}  // namespace
}  // namespace widelimit
