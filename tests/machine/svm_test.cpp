#include "widelimit/machine/svm/svm.hpp"

#include "tests/machine/svm_fixture.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {
namespace {

/// Projected gradient descent: a ← box(a − (Ka − y)/L), L the largest absolute row sum.
std::vector<double> projected_gradient(const Matrix<double>& gram, std::span<const double> y, double bound, int steps) {
  const Index n = gram.rows();
  double lipschitz = 0;
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += std::abs(gram(i, j));
    lipschitz = std::max(lipschitz, sum);
  }
  std::vector<double> a(y.size());
  std::vector<double> next(y.size());
  for (int step = 0; step < steps; ++step) {
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double slope = -y[at];
      for (Index j = 0; j < n; ++j) slope += gram(i, j) * a[static_cast<std::size_t>(j)];
      const double moved = y[at] * (a[at] - slope / lipschitz);
      next[at] = y[at] * std::clamp(moved, 0.0, bound);
    }
    a.swap(next);
  }
  return a;
}

/// With C = 10¹², the rounding of a margin may exceed the tolerance: the gap must then be small and reported.
bool stopped_by_rounding(const Fit& fit, double lambda) {
  if (fit.summary.converged() || lambda > 1e-9) return false;
  expect_finite(fit);
  EXPECT_EQ(fit.summary.ending, Ending::iteration_limit);
  EXPECT_LE(*fit.summary.gap, 1e-4);
  EXPECT_NE(fit.summary.message.find("rounding"), std::string::npos) << fit.summary.message;
  return true;
}

TEST(Svm, ClosesTheGapByDefinition) {
  for (const Index n : {2, 3, 37, 200}) {
    for (const double apart : {0.5, 4.0}) {
      const Clouds data = clouds(n, apart, 7);
      for (const bool bias : {false, true}) {
        for (const double lambda : {1e-12, 1e-3, 0.1, 1.0, 30.0, 1e12}) {
          SCOPED_TRACE(fmt::format("n {} apart {} bias {} lambda {}", n, apart, bias, lambda));
          const SvmOptions options{.lambda = lambda, .bias = bias};
          const Fit first = fit_svm(data.gram.view(), data.labels, options);
          const Fit second = fit_svm2(data.gram.view(), data.labels, options);
          if (!stopped_by_rounding(first, lambda)) {
            expect_optimal(data.gram, data.labels, first, options, SvmLoss::hinge);
          }
          if (!stopped_by_rounding(second, lambda)) {
            expect_optimal(data.gram, data.labels, second, options, SvmLoss::squared_hinge);
          }
        }
      }
    }
  }
}

TEST(Svm, MeetsTheConditionsOfKarushKuhnAndTucker) {
  const Clouds data = clouds(150, 1.5, 3);
  for (const bool bias : {false, true}) {
    const SvmOptions options{.lambda = 0.3, .bias = bias, .tolerance = 1e-10};
    const Fit fit = fit_svm(data.gram.view(), data.labels, options);
    const auto g = values(data.gram, fit);
    for (Index i = 0; i < 150; ++i) {
      const double y = data.labels[static_cast<std::size_t>(i)];
      const double a = y * fit.alpha(i, 0);
      const double margin = y * g[static_cast<std::size_t>(i)];
      if (a < 1 / options.lambda) {
        EXPECT_GE(margin, 1 - 1e-4);
      }
      if (a > 0) {
        EXPECT_LE(margin, 1 + 1e-4);
      }
    }
  }
}

TEST(Svm, AgreesWithProjectedGradientWithoutBias) {
  const Clouds data = clouds(37, 1.0, 5);
  const double lambda = 0.5;
  const auto slow = projected_gradient(data.gram, data.labels, 1 / lambda, 30'000);
  const Fit fit = fit_svm(data.gram.view(), data.labels, {.lambda = lambda, .tolerance = 1e-12});
  for (Index i = 0; i < 37; ++i) EXPECT_NEAR(fit.alpha(i, 0), slow[static_cast<std::size_t>(i)], 1e-5) << i;
}

TEST(Svm, WeightsAreRepeatedSamples) {
  const Clouds data = clouds(40, 1.0, 11);
  std::vector<double> weights(40, 1.0);
  std::vector<Index> repeated;
  for (Index i = 0; i < 40; ++i) {
    weights[static_cast<std::size_t>(i)] = static_cast<double>(i % 3);
    for (Index r = 0; r < i % 3; ++r) repeated.push_back(i);
  }
  const Index n = std::ssize(repeated);
  Matrix<double> gram(n, n);
  std::vector<double> labels;
  for (Index i = 0; i < n; ++i) {
    labels.push_back(data.labels[static_cast<std::size_t>(repeated[static_cast<std::size_t>(i)])]);
    for (Index j = 0; j < n; ++j) {
      gram(i, j) = data.gram(repeated[static_cast<std::size_t>(i)], repeated[static_cast<std::size_t>(j)]);
    }
  }
  for (const bool bias : {false, true}) {
    for (const SvmLoss loss : {SvmLoss::hinge, SvmLoss::squared_hinge}) {
      const double lambda[]{0.7};
      SvmOptions options{.bias = bias, .tolerance = 1e-9};
      const Fit plain = std::move(svm_path(gram.view(), labels, lambda, options, loss)[0]);
      options.weights = weights;
      const Fit weighted = std::move(svm_path(data.gram.view(), data.labels, lambda, options, loss)[0]);
      EXPECT_NEAR(*plain.summary.primal, *weighted.summary.primal, 1e-8 * *plain.summary.primal);
      EXPECT_NEAR(plain.bias[0], weighted.bias[0], 1e-3);
      for (Index i = 0; i < 40; i += 3) EXPECT_EQ(weighted.alpha(i, 0), 0);
    }
  }
}

TEST(Svm, SinglePrecisionGramGivesNearlyTheSame) {
  const Clouds data = clouds(90, 1.0, 4);
  Matrix<float> single(90, 90);
  for (Index i = 0; i < 90 * 90; ++i) single.data()[i] = static_cast<float>(data.gram.data()[i]);
  for (const bool bias : {false, true}) {
    const Fit exact = fit_svm(data.gram.view(), data.labels, {.lambda = 0.1, .bias = bias});
    const Fit rounded = fit_svm(single.view(), data.labels, {.lambda = 0.1, .bias = bias});
    ASSERT_TRUE(rounded.summary.converged());
    EXPECT_NEAR(*exact.summary.dual, *rounded.summary.dual, 3e-6 * *exact.summary.dual);
  }
}

TEST(HardSvm, IsTheLimitOfSmallLambda) {
  for (const bool bias : {false, true}) {
    const Clouds data = clouds(60, 2.0, 9);
    const Fit hard = fit_hard_svm(data.gram.view(), data.labels, {.bias = bias, .tolerance = 1e-8});
    ASSERT_TRUE(hard.summary.converged()) << hard.summary.message;
    const auto g = values(data.gram, hard);
    double margin = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < g.size(); ++i) margin = std::min(margin, data.labels[i] * g[i]);
    EXPECT_NEAR(margin, 1, 1e-4);
    const Fit soft = fit_svm(data.gram.view(), data.labels, {.lambda = 1e-9, .bias = bias, .tolerance = 1e-8});
    EXPECT_NEAR(*soft.summary.dual / 1e-9, *hard.summary.dual, 1e-6 * *hard.summary.dual);
    EXPECT_NEAR(*hard.summary.primal, squared_norm(data.gram, hard) / 2, 1e-6 * *hard.summary.primal);
  }
}

TEST(HardSvm, SaysWhereNothingSeparates) {
  const double labels[]{1, -1, 1};
  Matrix<double> duplicates(3, 3);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) duplicates(i, j) = (i < 2) == (j < 2) ? 1 : 0.25;
  }
  for (const bool bias : {false, true}) {
    const Fit fit = fit_hard_svm(duplicates.view(), labels, {.bias = bias});
    EXPECT_EQ(fit.summary.ending, Ending::not_separable);
    EXPECT_NE(fit.summary.message.find("no hyperplane"), std::string::npos);
    expect_finite(fit);
  }
}

TEST(HardSvm, SaysSoForTheExclusiveOrOfALinearKernel) {
  const double points[4][2]{{1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
  const double labels[]{1, 1, -1, -1};
  Matrix<double> gram(4, 4);
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) gram(i, j) = points[i][0] * points[j][0] + points[i][1] * points[j][1];
  }
  for (const bool bias : {false, true}) {
    const Fit fit = fit_hard_svm(gram.view(), labels, {.bias = bias});
    EXPECT_EQ(fit.summary.ending, Ending::not_separable);
    expect_finite(fit);
  }
}

TEST(HardSvm, SaysSoForOverlappingCloudsInThePlane) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const Index n = 80;
  Matrix<double> gram(n, n);
  std::vector<std::array<double, 2>> points;
  std::vector<double> labels;
  for (Index i = 0; i < n; ++i) {
    labels.push_back(i % 2 == 0 ? 1 : -1);
    points.push_back({normal(random) + labels.back() / 2, normal(random)});
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < points.size(); ++j) {
      gram(static_cast<Index>(i), static_cast<Index>(j)) = points[i][0] * points[j][0] + points[i][1] * points[j][1];
    }
  }
  for (const bool bias : {false, true}) {
    const Fit fit = fit_hard_svm(gram.view(), labels, {.bias = bias});
    EXPECT_EQ(fit.summary.ending, Ending::not_separable);
    expect_finite(fit);
  }
}

TEST(Svm, TwinsWithOppositeLabelsAreFittedSoftly) {
  const double labels[]{1, -1};
  Matrix<double> duplicates(2, 2);
  std::fill_n(duplicates.data(), 4, 2.0);
  for (const double lambda : {1e-12, 1.0, 1e12}) {
    for (const bool bias : {false, true}) {
      const SvmOptions options{.lambda = lambda, .bias = bias};
      expect_optimal(duplicates, labels, fit_svm(duplicates.view(), labels, options), options, SvmLoss::hinge);
      expect_optimal(duplicates, labels, fit_svm2(duplicates.view(), labels, options), options, SvmLoss::squared_hinge);
    }
  }
}

TEST(Svm, ZeroGramIsAnswered) {
  const double labels[]{1, -1, -1, 1, 1};
  const Matrix<double> zero(5, 5);
  for (const double lambda : {1e-12, 1.0, 1e12}) {
    for (const bool bias : {false, true}) {
      const SvmOptions options{.lambda = lambda, .bias = bias};
      expect_optimal(zero, labels, fit_svm(zero.view(), labels, options), options, SvmLoss::hinge);
      expect_optimal(zero, labels, fit_svm2(zero.view(), labels, options), options, SvmLoss::squared_hinge);
      EXPECT_EQ(fit_hard_svm(zero.view(), labels, options).summary.ending, Ending::not_separable);
    }
  }
}

TEST(Svm, EndsOnAGramThatIsNotQuitePositive) {
  Clouds data = clouds(60, 0.5, 8);
  for (Index i = 0; i < 60; ++i) data.gram(i, i) -= 1e-3;
  for (const bool bias : {false, true}) {
    for (const double lambda : {1e-9, 1e-3, 1.0}) {
      const SvmOptions options{.lambda = lambda, .bias = bias, .max_iterations = 20'000};
      expect_finite(fit_svm(data.gram.view(), data.labels, options));
      expect_finite(fit_svm2(data.gram.view(), data.labels, options));
      expect_finite(fit_hard_svm(data.gram.view(), data.labels, options));
    }
  }
}

TEST(Svm, LimitOfIterationsIsToldWithTheBestSoFar) {
  const Clouds data = clouds(200, 0.5, 6);
  const Fit fit = fit_svm(data.gram.view(), data.labels, {.lambda = 1e-6, .max_iterations = 5});
  EXPECT_EQ(fit.summary.ending, Ending::iteration_limit);
  EXPECT_FALSE(fit.summary.message.empty());
  expect_finite(fit);
}

TEST(Svm, RefusesWhatIsNoProblem) {
  const Clouds data = clouds(4, 1.0, 1);
  const auto k = data.gram.view();
  const auto refuses = [&](std::span<const double> labels, const SvmOptions& options) {
    try {
      (void)fit_svm(k, labels, options);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::input);
    }
  };
  const double one_class[]{1, 1, 1, 1};
  refuses(one_class, {});
  const double fraction[]{1, -1, 0.5, 1};
  refuses(fraction, {});
  const double few[]{1, -1};
  refuses(few, {});
  refuses({}, {});
  refuses(data.labels, {.lambda = 0});
  refuses(data.labels, {.lambda = -1});
  refuses(data.labels, {.lambda = std::numeric_limits<double>::quiet_NaN()});
  refuses(data.labels, {.tolerance = 0});
  refuses(data.labels, {.max_iterations = -1});
  const double weights[]{1, 1};
  refuses(data.labels, {.weights = weights});
  const Matrix<double> one(1, 1);
  const double label[]{1};
  EXPECT_THROW((void)fit_svm(one.view(), label), Error);
  const Matrix<double> rectangular(4, 3);
  EXPECT_THROW((void)fit_svm(rectangular.view(), data.labels), Error);
}

class StopProgress final : public Progress {
 public:
  bool update(std::int64_t /*done*/, std::int64_t /*total*/, std::string_view /*unit*/) override { return false; }
};

TEST(Svm, StopsWhenAsked) {
  const Clouds data = clouds(400, 0.2, 6);
  StopProgress progress;
  try {
    (void)fit_svm(data.gram.view(), data.labels, {.lambda = 1e-6, .progress = &progress});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
  }
}

}  // namespace
}  // namespace widelimit
