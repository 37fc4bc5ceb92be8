#include "widelimit/machine/ridge/gaussian_process.hpp"

#include "tests/machine/elimination.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace widelimit {
namespace {

using test::eliminate;
using test::Extended;
using test::line_gram;
using test::Rows;
using test::wavy_targets;

/// The first n of n + tests samples are for training; line_gram is the covariance of all.
struct TrainAndTest {
  Matrix<double> train;
  Matrix<double> cross;
  std::vector<double> diagonal;
};
TrainAndTest split(Index n, Index tests) {
  const Matrix<double> all = line_gram<double>(n + tests);
  TrainAndTest result{Matrix<double>(n, n), Matrix<double>(tests, n), {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) result.train(i, j) = all(i, j);
    for (Index t = 0; t < tests; ++t) result.cross(t, i) = all(n + t, i);
  }
  for (Index t = 0; t < tests; ++t) result.diagonal.push_back(all(n + t, n + t));
  return result;
}

Rows noisy(const Matrix<double>& k, double noise) {
  Rows a(static_cast<std::size_t>(k.rows()), std::vector<Extended>(static_cast<std::size_t>(k.rows())));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) {
      a[i][j] = static_cast<Extended>(k(static_cast<Index>(i), static_cast<Index>(j)));
    }
    a[i][i] += static_cast<Extended>(noise);
  }
  return a;
}

TEST(GaussianProcess, PosteriorIsThatOfTheJointNormal) {
  for (const Index n : {1, 2, 37}) {
    for (const double noise : {0.0, 0.1}) {
      const TrainAndTest s = split(n, 5);
      const Matrix<double> y = wavy_targets(n, 2);
      const GaussianProcess process(s.train.view(), y.view(), {.noise = noise});
      ASSERT_TRUE(process.fit().summary.converged());
      const Posterior posterior = process.posterior(s.cross.view(), s.diagonal);
      for (Index t = 0; t < 5; ++t) {
        std::vector<Extended> column;
        for (Index i = 0; i < n; ++i) column.push_back(static_cast<Extended>(s.cross(t, i)));
        const auto weights = eliminate(noisy(s.train, noise), column);
        Extended mean = 0;
        Extended variance = static_cast<Extended>(s.diagonal[static_cast<std::size_t>(t)]);
        for (std::size_t i = 0; i < weights.size(); ++i) {
          mean += weights[i] * static_cast<Extended>(y(static_cast<Index>(i), 1));
          variance -= weights[i] * column[i];
        }
        EXPECT_NEAR(posterior.mean(t, 1), static_cast<double>(mean), 1e-11);
        EXPECT_NEAR(posterior.variance[static_cast<std::size_t>(t)], static_cast<double>(variance), 1e-11);
      }
    }
  }
}

/// K** − K*ᵀ(K + σ²I)⁻¹K* between all pairs of test points; more points than one strip of variances.
TEST(GaussianProcess, CovarianceIsThatOfTheJointNormal) {
  for (const Index tests : {1, 5, 270}) {
    const Index n = 13;
    const double noise = 0.1;
    const TrainAndTest s = split(n, tests);
    const Matrix<double> all = line_gram<double>(n + tests);
    Matrix<double> own(tests, tests);
    for (Index t = 0; t < tests; ++t) {
      for (Index u = 0; u < tests; ++u) own(t, u) = all(n + t, n + u);
    }
    const GaussianProcess process(s.train.view(), wavy_targets(n, 2).view(), {.noise = noise});
    const Posterior joint = process.joint_posterior(s.cross.view(), own.view());
    const Posterior single = process.posterior(s.cross.view(), s.diagonal);
    for (Index t = 0; t < tests; ++t) {
      EXPECT_EQ(joint.mean(t, 1), single.mean(t, 1));
      EXPECT_EQ(joint.variance[static_cast<std::size_t>(t)], joint.covariance(t, t));
      EXPECT_NEAR(joint.variance[static_cast<std::size_t>(t)], single.variance[static_cast<std::size_t>(t)], 1e-13);
      if (t % 50 > 4) continue;
      std::vector<Extended> column;
      for (Index i = 0; i < n; ++i) column.push_back(static_cast<Extended>(s.cross(t, i)));
      const auto weights = eliminate(noisy(s.train, noise), column);
      for (Index u = 0; u < tests; ++u) {
        Extended covariance = static_cast<Extended>(own(t, u));
        for (Index i = 0; i < n; ++i) {
          covariance -= weights[static_cast<std::size_t>(i)] * static_cast<Extended>(s.cross(u, i));
        }
        EXPECT_NEAR(joint.covariance(t, u), static_cast<double>(covariance), 1e-12);
        EXPECT_EQ(joint.covariance(t, u), joint.covariance(u, t));
      }
    }
  }
}

/// p(y₁ … y_n) = Π p(y_i | y₁ … y_{i−1}), each a normal density with the posterior given the previous samples.
TEST(GaussianProcess, LikelihoodIsTheProductOfPredictions) {
  const Index n = 20;
  const double noise = 0.05;
  const Matrix<double> k = line_gram<double>(n);
  const Matrix<double> y = wavy_targets(n, 1);
  double expected = 0;
  for (Index i = 0; i < n; ++i) {
    double mean = 0;
    double variance = k(i, i) + noise;
    if (i > 0) {
      const GaussianProcess before(AnyView(k.view().block(0, 0, i, i)), y.view().block(0, 0, i, 1), {.noise = noise});
      const Posterior next = before.posterior(AnyView(k.view().block(i, 0, 1, i)), std::vector<double>{k(i, i)});
      mean = next.mean(0, 0);
      variance = next.variance[0] + noise;
    }
    expected -= 0.5 * (std::log(2 * std::numbers::pi * variance) + std::pow(y(i, 0) - mean, 2) / variance);
  }
  const GaussianProcess process(k.view(), y.view(), {.noise = noise});
  EXPECT_NEAR(process.log_marginal_likelihood()[0], expected, 1e-10 * std::abs(expected));
}

TEST(GaussianProcess, MeanIsRidgeAtTwiceTheNoise) {
  const Matrix<double> k = line_gram<double>(30);
  const Matrix<double> y = wavy_targets(30, 1);
  const GaussianProcess process(k.view(), y.view(), {.noise = 0.25});
  const Fit ridge = fit_ridge(k.view(), y.view(), {.lambda = 0.5});
  for (Index i = 0; i < 30; ++i) EXPECT_DOUBLE_EQ(process.fit().alpha(i, 0), ridge.alpha(i, 0));
}

TEST(GaussianProcess, IsCertainAtNoiselessTrainingSamplesAndIgnorantFarAway) {
  const Matrix<double> k = line_gram<double>(10);
  const Matrix<double> y = wavy_targets(10, 1);
  const GaussianProcess process(k.view(), y.view());
  Matrix<float> cross(2, 10);
  for (Index i = 0; i < 10; ++i) cross(0, i) = static_cast<float>(k(3, i));
  const Posterior posterior = process.posterior(cross.view(), std::vector<double>{k(3, 3), 1.5});
  EXPECT_NEAR(posterior.mean(0, 0), y(3, 0), 1e-4);
  EXPECT_NEAR(posterior.variance[0], 0, 1e-6);
  EXPECT_EQ(posterior.mean(1, 0), 0.0);
  EXPECT_EQ(posterior.variance[1], 1.5);
}

TEST(GaussianProcess, SaysWhatIsWrong) {
  const Matrix<double> y = wavy_targets(3, 1);
  const GaussianProcess singular(Matrix<double>(3, 3).view(), y.view());
  EXPECT_EQ(singular.fit().summary.ending, Ending::not_positive_definite);
  EXPECT_TRUE(singular.log_marginal_likelihood().empty());
  EXPECT_THROW((void)singular.posterior(Matrix<double>(1, 3).view(), std::vector<double>{1}), Error);
  const Matrix<double> k = line_gram<double>(3);
  const GaussianProcess process(k.view(), y.view());
  EXPECT_THROW((void)process.posterior(Matrix<double>(2, 3).view(), std::vector<double>{1}), Error);
  EXPECT_THROW((void)process.posterior(Matrix<double>(1, 2).view(), std::vector<double>{1}), Error);
  EXPECT_THROW((void)process.posterior(Matrix<double>(1, 3).view(), std::vector<double>{std::nan("")}), Error);
  EXPECT_THROW(GaussianProcess(k.view(), y.view(), {.noise = -1}), Error);
  EXPECT_THROW((void)singular.joint_posterior(Matrix<double>(1, 3).view(), Matrix<double>(1, 1).view()), Error);
  EXPECT_THROW((void)process.joint_posterior(Matrix<double>(2, 3).view(), Matrix<double>(1, 1).view()), Error);
  EXPECT_THROW((void)process.joint_posterior(Matrix<double>(1, 2).view(), Matrix<double>(1, 1).view()), Error);
}

}  // namespace
}  // namespace widelimit
