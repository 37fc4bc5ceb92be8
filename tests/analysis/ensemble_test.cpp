#include "widelimit/analysis/dynamics/ensemble.hpp"

#include "dynamics_fixture.hpp"
#include "tests/machine/elimination.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace widelimit {
namespace {

using test::eliminate;
using test::Extended;
using test::Rows;

/// Points on and inside the sphere, for which the NTK is well conditioned.
Matrix<double> directions(Index n, Index d, std::uint64_t seed) {
  Noise noise(seed);
  Matrix<double> x(n, d);
  for (Index i = 0; i < n * d; ++i) x.data()[i] = 1.5 * noise();
  return x;
}

struct EnsembleCase {
  Network network = Network::parse("dense(b_std=0.5) erf dense(w_std=1.5)");
  Matrix<double> x = directions(6, 4, 2);
  Matrix<double> test = directions(5, 4, 3);
  Matrix<double> y = random_numbers(6, 2, 4);

  [[nodiscard]] SampleView train_view() const { return {x.view(), {1, 1, 4}}; }
  [[nodiscard]] SampleView test_view() const { return {test.view(), {1, 1, 4}}; }
  [[nodiscard]] Ensemble run(const EnsembleOptions& options) const {
    return ensemble(network, train_view(), y.view(), test_view(), options, all_processors());
  }
};

const Matrix<double>& entries(const AnyMatrix& k) { return std::get<Matrix<double>>(k); }

/// Coefficients of the machine trained on each unit vector, by small Runge–Kutta steps of ȧ = −λa + 2(e − Θa).
Rows integrated(const Matrix<double>& theta, double lambda, double time) {
  const auto n = usize(theta.rows());
  const auto slope = [&](const std::vector<Extended>& a, std::size_t unit) {
    std::vector<Extended> s(n);
    for (std::size_t i = 0; i < n; ++i) {
      s[i] = -Extended{lambda} * a[i] + (i == unit ? 2 : 0);
      for (std::size_t j = 0; j < n; ++j)
        s[i] -= 2 * Extended{theta(static_cast<Index>(i), static_cast<Index>(j))} * a[j];
    }
    return s;
  };
  const auto moved = [&](std::vector<Extended> a, const std::vector<Extended>& s, Extended by) {
    for (std::size_t i = 0; i < n; ++i) a[i] += by * s[i];
    return a;
  };
  constexpr int steps = 4000;
  const Extended h = Extended{time} / steps;
  Rows result;
  for (std::size_t unit = 0; unit < n; ++unit) {
    std::vector<Extended> a(n);
    for (int k = 0; k < steps; ++k) {
      const auto k1 = slope(a, unit);
      const auto k2 = slope(moved(a, k1, h / 2), unit);
      const auto k3 = slope(moved(a, k2, h / 2), unit);
      const auto k4 = slope(moved(a, k3, h), unit);
      for (std::size_t i = 0; i < n; ++i) a[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    result.push_back(a);
  }
  return result;
}

/// Returns the columns of (Θ + λ/2·I)⁻¹.
Rows limit(const Matrix<double>& theta, double lambda) {
  const auto n = usize(theta.rows());
  Rows a(n, std::vector<Extended>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a[i][j] = Extended{theta(static_cast<Index>(i), static_cast<Index>(j))};
    a[i][i] += Extended{lambda} / 2;
  }
  Rows result;
  for (std::size_t unit = 0; unit < n; ++unit) {
    std::vector<Extended> e(n);
    e[unit] = 1;
    result.push_back(eliminate(a, e));
  }
  return result;
}

/// Mean and covariance by the formulas with plain sums, from the matrix that maps targets to coefficients.
void expect_moment(const EnsembleCase& problem, const Ensemble& found, Index moment, Kind kind, const Rows& map) {
  const Engine& engine = all_processors();
  const Gram train = gram(problem.network, problem.train_view(), {.kind = Kind::both}, engine);
  const Gram cross = gram(problem.network, problem.test_view(), problem.train_view(), {.kind = Kind::both}, engine);
  const Gram own = gram(problem.network, problem.test_view(), {.kind = Kind::nngp}, engine);
  const Matrix<double>& theta_test = entries(kind == Kind::ntk ? cross.ntk : cross.nngp);
  const Index n = 6;
  const Index tests = 5;
  Rows a(usize(tests), std::vector<Extended>(usize(n)));
  for (Index t = 0; t < tests; ++t) {
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) a[usize(t)][usize(j)] += Extended{theta_test(t, i)} * map[usize(j)][usize(i)];
    }
  }
  for (Index t = 0; t < tests; ++t) {
    for (Index o = 0; o < 2; ++o) {
      Extended mean = 0;
      for (Index j = 0; j < n; ++j) mean += a[usize(t)][usize(j)] * Extended{problem.y(j, o)};
      EXPECT_NEAR(found.mean(moment, 2 * t + o), static_cast<double>(mean), 1e-9);
    }
    for (Index u = 0; u < tests; ++u) {
      Extended covariance = Extended{entries(own.nngp)(t, u)};
      for (Index i = 0; i < n; ++i) {
        covariance -= a[usize(t)][usize(i)] * Extended{entries(cross.nngp)(u, i)};
        covariance -= a[usize(u)][usize(i)] * Extended{entries(cross.nngp)(t, i)};
        for (Index j = 0; j < n; ++j) {
          covariance += a[usize(t)][usize(i)] * Extended{entries(train.nngp)(i, j)} * a[usize(u)][usize(j)];
        }
      }
      EXPECT_NEAR(found.covariance(moment * tests + t, u), static_cast<double>(covariance), 1e-9);
      EXPECT_EQ(found.covariance(moment * tests + t, u), found.covariance(moment * tests + u, t));
    }
    EXPECT_EQ(found.variance(moment, t), found.covariance(moment * tests + t, t));
  }
}

TEST(Ensemble, IsTheFlowOfAllInitialFunctions) {
  const EnsembleCase problem;
  const Gram train = gram(problem.network, problem.train_view(), {.kind = Kind::both}, all_processors());
  for (const Kind kind : {Kind::ntk, Kind::nngp}) {
    const Matrix<double>& theta = entries(kind == Kind::ntk ? train.ntk : train.nngp);
    for (const double lambda : {0.0, 0.3}) {
      const Ensemble found =
          problem.run({.kind = kind, .times = {0.05, 2, infinite_time}, .lambda = lambda, .covariance = true});
      ASSERT_TRUE(found.summary.converged());
      ASSERT_EQ(found.times.size(), 3U);
      expect_moment(problem, found, 0, kind, integrated(theta, lambda, 0.05));
      expect_moment(problem, found, 1, kind, integrated(theta, lambda, 2));
      expect_moment(problem, found, 2, kind, limit(theta, lambda));
      const Ensemble alone = problem.run({.kind = kind, .times = {0.05, 2, infinite_time}, .lambda = lambda});
      EXPECT_LT(largest_difference(alone.mean, found.mean), 1e-12);
      EXPECT_LT(largest_difference(alone.variance, found.variance), 1e-12);
      EXPECT_EQ(alone.covariance.rows(), 0);
    }
  }
}

TEST(Ensemble, BeginsAsThePrior) {
  const EnsembleCase problem;
  const Ensemble found = problem.run({.times = {0}, .covariance = true});
  const Gram own = gram(problem.network, problem.test_view(), {.kind = Kind::nngp}, all_processors());
  EXPECT_EQ(largest_difference(found.covariance, entries(own.nngp)), 0.0);
  for (Index i = 0; i < 10; ++i) EXPECT_EQ(found.mean.data()[i], 0.0);
}

/// Training the last layer to convergence without a ridge is noiseless Bayesian inference.
TEST(Ensemble, OfTheLastLayerEndsAsThePosterior) {
  const EnsembleCase problem;
  const Engine& engine = all_processors();
  const Gram cross = gram(problem.network, problem.test_view(), problem.train_view(), {.kind = Kind::nngp}, engine);
  const Gram own = gram(problem.network, problem.test_view(), {.kind = Kind::nngp}, engine);
  const GaussianProcess process(gram_matrix(problem.network, problem.train_view(), {.kind = Kind::nngp}, engine),
                                problem.y.view());
  const Posterior posterior = process.joint_posterior(view_of(cross.nngp), view_of(own.nngp));
  const Ensemble found = problem.run({.kind = Kind::nngp, .covariance = true});
  EXPECT_LT(largest_difference(found.covariance, posterior.covariance), 1e-9);
  EXPECT_LT(largest_difference(found.mean.data(), posterior.mean.data(), 10), 1e-9);
}

/// diag_reg is relative to the mean diagonal, λ/2 is absolute.
TEST(Ensemble, TakesARelativeRidge) {
  const EnsembleCase problem;
  const double mean_diagonal =
      gram_matrix(problem.network, problem.train_view(), {.kind = Kind::ntk}, all_processors()).mean_diagonal();
  const Ensemble relative = problem.run({.times = {1.5}, .diag_reg = 0.1});
  const Ensemble absolute = problem.run({.times = {1.5}, .lambda = 0.2 * mean_diagonal});
  EXPECT_LT(largest_difference(relative.mean, absolute.mean), 1e-14);
  EXPECT_LT(largest_difference(relative.variance, absolute.variance), 1e-14);
}

/// A repeated sample: Θ is singular, and its null space is not learned.
TEST(Ensemble, LearnsNothingInTheNullSpace) {
  EnsembleCase problem;
  for (Index f = 0; f < 4; ++f) problem.x(5, f) = problem.test(0, f) = problem.x(2, f);
  const Ensemble found = problem.run({.times = {1e12, infinite_time}});
  for (Index moment = 0; moment < 2; ++moment) {
    const double between = (problem.y(2, 0) + problem.y(5, 0)) / 2;
    EXPECT_NEAR(found.mean(moment, 0), between, 1e-6);
    EXPECT_NEAR(found.variance(moment, 0), 0, 1e-6);
  }
}

/// Finite-width networks with independent initial weights: mean and variance agree within 4.5 standard errors plus 3 %
/// for the finite width.
TEST(Ensemble, IsThatOfWideNetworks) {
  const Network network = Network::parse("dense(b_std=0.5) erf dense(w_std=1.5)");
  const Matrix<double> x = directions(3, 2, 5);
  const Matrix<double> test = directions(2, 2, 6);
  const Matrix<double> y = random_numbers(3, 1, 7);
  constexpr int networks = 150;
  constexpr double time = 0.4;
  std::array<double, 2> sum{};
  std::array<double, 2> squares{};
  for (int seed = 0; seed < networks; ++seed) {
    TrainOptions options;
    options.width = 256;
    options.lambda = 0.5;
    options.rate = 0.01;
    options.steps = 40;
    options.seed = static_cast<std::uint64_t>(seed);
    options.records = 2;
    const TrainedNetwork trained =
        train(network, {.x = {x.view(), {1, 1, 2}}, .y = y.view()}, options, all_processors());
    const Matrix<double> outputs = predict_outputs(trained, {test.view(), {1, 1, 2}}, all_processors());
    for (Index t = 0; t < 2; ++t) {
      sum[usize(t)] += outputs(t, 0);
      squares[usize(t)] += outputs(t, 0) * outputs(t, 0);
    }
  }
  const Ensemble found = ensemble(network, {x.view(), {1, 1, 2}}, y.view(), {test.view(), {1, 1, 2}},
                                  {.times = {time}, .lambda = 0.5}, all_processors());
  for (Index t = 0; t < 2; ++t) {
    const double mean = sum[usize(t)] / networks;
    const double variance = squares[usize(t)] / networks - mean * mean;
    EXPECT_NEAR(mean, found.mean(0, t), 4.5 * std::sqrt(variance / networks) + 0.03 * std::abs(found.mean(0, t)));
    EXPECT_NEAR(variance, found.variance(0, t), (4.5 * std::sqrt(2.0 / networks) + 0.03) * found.variance(0, t));
  }
}

TEST(Ensemble, SaysWhatIsWrong) {
  const EnsembleCase problem;
  const auto code = [&](const EnsembleOptions& options) { return code_of_error([&] { (void)problem.run(options); }); };
  EXPECT_EQ(code({.times = {}}), Code::input);
  EXPECT_EQ(code({.times = {-1}}), Code::input);
  EXPECT_EQ(code({.times = {std::nan("")}}), Code::input);
  EXPECT_EQ(code({.lambda = -1}), Code::input);
  EXPECT_EQ(code({.diag_reg = infinite_time}), Code::input);
  EXPECT_EQ(code({.kind = Kind::both}), Code::usage);
  EXPECT_EQ(code({.memory = 1000}), Code::resource);
  const Matrix<double> few = random_numbers(5, 1);
  EXPECT_THROW(
      (void)ensemble(problem.network, problem.train_view(), few.view(), problem.test_view(), {}, all_processors()),
      Error);
}

TEST(Ensemble, DoesNotTrainAnIndefiniteMatrix) {
  Matrix<double> k(2, 2);
  k(0, 0) = k(1, 1) = 1;
  k(0, 1) = k(1, 0) = 2;
  const Matrix<double> y = random_numbers(2, 1);
  const Matrix<double> cross(1, 2);
  const EnsembleKernels kernels{.trained = k,
                                .prior = k,
                                .test_trained = cross.view(),
                                .test_prior = cross.view(),
                                .test_variance = {1},
                                .test_by_test = {}};
  const Ensemble found = ensemble(kernels, y.view(), {});
  EXPECT_EQ(found.summary.ending, Ending::not_positive_definite);
  EXPECT_TRUE(found.times.empty());
  EXPECT_EQ(code_of_error([&] { (void)ensemble(kernels, y.view(), {.covariance = true}); }), Code::usage);
  Matrix<double> wrong(1, 3);
  EnsembleKernels other = kernels;
  other.test_prior = wrong.view();
  EXPECT_EQ(code_of_error([&] { (void)ensemble(other, y.view(), {}); }), Code::input);
}

}  // namespace
}  // namespace widelimit
