#include "widelimit/machine/ridge/marginal_likelihood.hpp"

#include "tests/machine/elimination.hpp"
#include "tests/machine/random_gram.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"
#include "widelimit/network/weight_std.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace widelimit {
namespace {

using test::eliminate;
using test::Extended;
using test::Rows;
using test::wavy_targets;

Matrix<double> scattered(Index n, Index d, std::uint64_t seed = 3) {
  Noise noise(seed);
  Matrix<double> x(n, d);
  for (Index i = 0; i < n * d; ++i) x.data()[i] = 2 * noise();
  return x;
}

SampleView vectors(const Matrix<double>& x) { return {x.view(), {1, 1, x.cols()}}; }

double value_at(const Network& network, const SampleView& x, const Matrix<double>& y, const ProcessParameters& p,
                Kind kind) {
  const MarginalLikelihood found =
      marginal_likelihood(with_std(network, {p.w_std, p.b_std}), x, y.view(),
                          {.kind = kind, .noise = p.noise, .gradient = false}, all_processors());
  EXPECT_TRUE(found.summary.converged());
  return found.value;
}

/// Returns the derivative of f at 0 by Romberg extrapolation of central differences: errors of order h⁸.
double romberg_slope(const std::function<double(double)>& f) {
  std::vector<double> row;
  for (double h = 0.08; row.size() < 4; h /= 2) row.push_back((f(h) - f(-h)) / (2 * h));
  double power = 4;
  for (std::size_t last = row.size(); last > 1; --last, power *= 4) {
    for (std::size_t k = 0; k + 1 < last; ++k) row[k] = row[k + 1] + (row[k + 1] - row[k]) / (power - 1);
  }
  return row[0];
}

TEST(MarginalLikelihood, IsThatOfTheGaussianProcess) {
  const Matrix<double> x = scattered(23, 4);
  const Matrix<double> y = wavy_targets(23, 2);
  const Network network = Network::parse("fc:2(b_std=0.3)");
  for (const Kind kind : {Kind::nngp, Kind::ntk}) {
    const GramMatrix k = gram_matrix(network, vectors(x), {.kind = kind}, all_processors());
    const GaussianProcess process(k, y.view(), {.noise = 0.2});
    const MarginalLikelihood found =
        marginal_likelihood(network, vectors(x), y.view(), {.kind = kind, .noise = 0.2}, all_processors());
    const auto& each = process.log_marginal_likelihood();
    EXPECT_NEAR(found.value, each[0] + each[1], 1e-11 * std::abs(each[0]));
    EXPECT_TRUE(found.summary.converged());
    EXPECT_GT(*found.summary.condition, 1);
  }
}

/// K = w⁴G + w²b² + b², G = ⟨x,x'⟩/d, with known derivatives; all in long double by elimination.
TEST(MarginalLikelihood, GradientOfALinearNetworkIsExact) {
  const Index n = 9;
  const double w = 1.3;
  const double b = 0.4;
  const double noise = 0.15;
  const Matrix<double> x = scattered(n, 12);
  const Matrix<double> y = wavy_targets(n, 2);
  Rows a(usize(n), std::vector<Extended>(usize(n)));
  Rows by_w = a;
  Rows by_b = a;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      Extended g = 0;
      for (Index f = 0; f < 12; ++f) g += Extended{x(i, f)} * Extended{x(j, f)} / 12;
      const Extended w2 = Extended{w} * Extended{w};
      const Extended b2 = Extended{b} * Extended{b};
      a[usize(i)][usize(j)] = w2 * w2 * g + w2 * b2 + b2 + (i == j ? Extended{noise} : 0);
      by_w[usize(i)][usize(j)] = 4 * w2 * w2 * g + 2 * w2 * b2;
      by_b[usize(i)][usize(j)] = 2 * w2 * b2 + 2 * b2;
    }
  }
  std::array<Extended, 3> expected{};
  Rows alpha;
  for (Index o = 0; o < 2; ++o) {
    std::vector<Extended> column;
    for (Index i = 0; i < n; ++i) column.push_back(Extended{y(i, o)});
    alpha.push_back(eliminate(a, column));
  }
  for (std::size_t j = 0; j < usize(n); ++j) {
    std::vector<Extended> unit(usize(n));
    unit[j] = 1;
    const auto inverse = eliminate(a, unit);
    for (std::size_t i = 0; i < usize(n); ++i) {
      const Extended weight = (alpha[0][i] * alpha[0][j] + alpha[1][i] * alpha[1][j] - 2 * inverse[i]) / 2;
      expected[0] += weight * by_w[i][j];
      expected[1] += weight * by_b[i][j];
      if (i == j) expected[2] += weight * Extended{noise};
    }
  }
  const Network network = with_std(Network::parse("dense dense"), {w, b});
  const MarginalLikelihood found =
      marginal_likelihood(network, vectors(x), y.view(), {.noise = noise}, all_processors());
  // Error 1.2e-12 of 2D·K in ∂K, times Σ|αα^T − A⁻¹||K|, which is below 1e3 here.
  for (std::size_t p = 0; p < 3; ++p) EXPECT_NEAR(found.gradient[p], static_cast<double>(expected[p]), 1e-8) << p;
}

/// Without biases, K of a ReLU network of D layers is proportional to w^{2D}: ∂K/∂log w = 2D·K, so that ∂L/∂log w + 2D
/// ∂L/∂log σ² = D(yᵀα − n). Uses more samples than one strip.
TEST(MarginalLikelihood, GradientObeysEulersIdentityOfAHomogeneousKernel) {
  const Index n = 301;
  const Matrix<double> x = scattered(n, 7);
  const Matrix<double> y = wavy_targets(n, 1);
  for (const Kind kind : {Kind::nngp, Kind::ntk}) {
    const Network network = Network::parse("fc:2(w_std=1.2)");
    const GaussianProcess process(gram_matrix(network, vectors(x), {.kind = kind}, all_processors()), y.view(),
                                  {.noise = 0.1});
    double fit = 0;
    for (Index i = 0; i < n; ++i) fit += y(i, 0) * process.fit().alpha(i, 0);
    const MarginalLikelihood found =
        marginal_likelihood(network, vectors(x), y.view(), {.kind = kind, .noise = 0.1}, all_processors());
    EXPECT_NEAR(found.gradient[0] + 6 * found.gradient[2], 3 * (fit - static_cast<double>(n)), 1e-6 * fit);
    EXPECT_EQ(found.gradient[1], 0.0);
  }
}

class LikelihoodGradientOf : public testing::TestWithParam<const char*> {};

TEST_P(LikelihoodGradientOf, IsTheSlopeOfTheValue) {
  const Index n = 11;
  const Matrix<double> x = scattered(n, 16);
  const Matrix<double> y = wavy_targets(n, 1);
  const SampleView samples(x.view(), {4, 4, 1});
  const Network network = Network::parse(GetParam());
  const ProcessParameters at{1.4, 0.3, 0.2};
  for (const Kind kind : {Kind::nngp, Kind::ntk}) {
    const MarginalLikelihood found = marginal_likelihood(with_std(network, {at.w_std, at.b_std}), samples, y.view(),
                                                         {.kind = kind, .noise = at.noise}, all_processors());
    for (std::size_t p = 0; p < 3; ++p) {
      const double slope = romberg_slope([&](double s) {
        ProcessParameters moved = at;
        (p == 0 ? moved.w_std : p == 1 ? moved.b_std : moved.noise) *= std::exp(s);
        return value_at(network, samples, y, moved, kind);
      });
      EXPECT_NEAR(found.gradient[p], slope, 2e-8 * (1 + std::abs(slope))) << p;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, LikelihoodGradientOf,
                         testing::Values("fc:1", "dense erf dense sin dense", "dense tanh dense",
                                         "dense residual{ relu dense } relu dense", "conv relu flatten dense"));

TEST(MarginalLikelihood, NamesTheFailingMinorOfASingularKernel) {
  Matrix<double> x = scattered(6, 3);
  for (Index f = 0; f < 3; ++f) x(4, f) = x(1, f);
  const Matrix<double> y = wavy_targets(6, 1);
  const MarginalLikelihood found =
      marginal_likelihood(Network::parse("fc:1"), vectors(x), y.view(), {}, all_processors());
  EXPECT_EQ(found.summary.ending, Ending::not_positive_definite);
  EXPECT_NE(found.summary.message.find("minor"), std::string::npos) << found.summary.message;
  EXPECT_NE(found.summary.message.find("noise"), std::string::npos);
  EXPECT_EQ(found.value, 0.0);
  EXPECT_EQ(found.gradient, (std::array<double, 3>{}));
}

TEST(MarginalLikelihood, RefusesBadInput) {
  const Matrix<double> x = scattered(5, 3);
  const Matrix<double> y = wavy_targets(5, 1);
  const Network network = Network::parse("fc:1");
  const auto with = [&](const MarginalLikelihoodOptions& options) {
    (void)marginal_likelihood(network, vectors(x), y.view(), options, all_processors());
  };
  EXPECT_THROW(with({.noise = -1}), Error);
  EXPECT_THROW(with({.noise = std::nan("")}), Error);
  EXPECT_THROW(with({.kind = Kind::both}), Error);
  EXPECT_THROW(with({.memory = 100}), Error);
  const Matrix<double> few = wavy_targets(4, 1);
  EXPECT_THROW((void)marginal_likelihood(network, vectors(x), few.view(), {}, all_processors()), Error);
}

/// y from a smooth function with noise.
struct Problem {
  Matrix<double> x = scattered(40, 2, 5);
  Matrix<double> y{40, 1};
  Problem() {
    Noise noise(8);
    for (Index i = 0; i < 40; ++i) y(i, 0) = std::sin(2 * x(i, 0)) + 0.5 * x(i, 1) + 0.2 * noise();
  }
};

TEST(LikelihoodSearch, EndsWhereTheLikelihoodIsStationaryAndHighest) {
  const Problem problem;
  const Network network = Network::parse("fc:1(activation=erf)");
  for (const Kind kind : {Kind::nngp, Kind::ntk}) {
    const LikelihoodOptimum found = optimise_marginal_likelihood(
        network, vectors(problem.x), problem.y.view(), {.kind = kind, .starts = 2, .seed = 4}, all_processors());
    ASSERT_TRUE(found.summary.converged()) << found.summary.message;
    EXPECT_LE(*found.summary.gradient, 1e-6);
    EXPECT_EQ(found.network, with_std(network, {found.parameters.w_std, found.parameters.b_std}));
    ASSERT_EQ(found.starts.size(), 2U);
    for (const LikelihoodStart& start : found.starts) {
      EXPECT_GE(*start.value, *start.from_value);
      EXPECT_GE(found.value, *start.value - 1e-9);
    }
    for (std::size_t p = 0; p < 3; ++p) {
      const auto along = [&](double s) {
        ProcessParameters moved = found.parameters;
        (p == 0 ? moved.w_std : p == 1 ? moved.b_std : moved.noise) *= std::exp(s);
        return value_at(network, vectors(problem.x), problem.y, moved, kind);
      };
      const double slope = romberg_slope(along);
      EXPECT_NEAR(found.gradient[p], slope, 1e-5) << p;
      const bool inside = p != 1 || (found.parameters.b_std > 1.01e-3 && found.parameters.b_std < 9.9);
      if (inside) {
        EXPECT_NEAR(slope, 0, 40 * 2e-6) << p;
        EXPECT_LE(along(0.05), found.value);
        EXPECT_LE(along(-0.05), found.value);
      }
    }
  }
}

TEST(LikelihoodSearch, KeepsToItsBoundsAndToWhatIsFixed) {
  const Problem problem;
  const LikelihoodSearchOptions options{.b_std_range = {0, 0}, .noise_range = ParameterRange{0.5, 2}, .starts = 1};
  const LikelihoodOptimum found = optimise_marginal_likelihood(Network::parse("fc:2"), vectors(problem.x),
                                                               problem.y.view(), options, all_processors());
  ASSERT_TRUE(found.summary.converged()) << found.summary.message;
  EXPECT_EQ(found.parameters.b_std, 0.0);
  EXPECT_EQ(found.parameters.noise, 0.5);  // the data have less noise
  EXPECT_LT(found.gradient[2], 0);
  EXPECT_NEAR(found.gradient[0], 0, 40e-6);
}

/// Smooth data without noise: the likelihood increases until K + σ²I is nearly singular, and rounding ends the search.
TEST(LikelihoodSearch, EndsWhereRoundingHidesTheGradient) {
  Matrix<double> x(17, 1);
  Matrix<double> y(17, 1);
  for (Index i = 0; i < 17; ++i) {
    x(i, 0) = static_cast<double>(i - 8) / 3;
    y(i, 0) = std::sin(x(i, 0));
  }
  const LikelihoodOptimum found = optimise_marginal_likelihood(Network::parse("dense erf dense"), vectors(x), y.view(),
                                                               {.starts = 2}, all_processors());
  EXPECT_TRUE(found.summary.converged()) << found.summary.message;
  EXPECT_LE(*found.summary.gradient, 1e-3);
  if (*found.summary.gradient > 1e-6) {
    EXPECT_NE(found.summary.message.find("rounding"), std::string::npos);
  }
  EXPECT_GT(*found.summary.condition, 1e8);
  EXPECT_NEAR(*found.starts[0].value, *found.starts[1].value, 0.05);
}

TEST(LikelihoodSearch, IsAFunctionOfItsSeed) {
  const Problem problem;
  const auto run = [&](std::uint64_t seed) {
    return optimise_marginal_likelihood(Network::parse("fc:1"), vectors(problem.x), problem.y.view(),
                                        {.starts = 2, .seed = seed, .max_iterations = 2}, all_processors());
  };
  const LikelihoodOptimum first = run(1);
  EXPECT_EQ(first.value, run(1).value);
  EXPECT_EQ(first.starts[0].from, run(2).starts[0].from);
  EXPECT_NE(first.starts[1].from, run(2).starts[1].from);
  EXPECT_EQ(first.summary.ending, Ending::iteration_limit);
  EXPECT_NE(first.summary.message.find("allow more"), std::string::npos);
}

TEST(LikelihoodSearch, DiagnosesAKernelWithoutAFactor) {
  Matrix<double> x(4, 1);
  for (Index i = 0; i < 4; ++i) x(i, 0) = 1;
  const Matrix<double> y = wavy_targets(4, 1);
  const LikelihoodOptimum found =
      optimise_marginal_likelihood(Network::parse("fc:1"), vectors(x), y.view(),
                                   {.noise_range = ParameterRange{0, 0}, .starts = 2}, all_processors());
  EXPECT_EQ(found.summary.ending, Ending::not_positive_definite);
  EXPECT_NE(found.summary.message.find("minor"), std::string::npos) << found.summary.message;
  EXPECT_EQ(found.value, 0.0);
  EXPECT_FALSE(found.starts[0].value.has_value());
}

TEST(LikelihoodSearch, RefusesBadInput) {
  const Problem problem;
  const auto with = [&](const LikelihoodSearchOptions& options, const char* network = "fc:1") {
    (void)optimise_marginal_likelihood(Network::parse(network), vectors(problem.x), problem.y.view(), options,
                                       all_processors());
  };
  EXPECT_THROW(with({.starts = 0}), Error);
  EXPECT_THROW(with({.w_std = -1}), Error);
  EXPECT_THROW(with({.w_std_range = {0, 1}}), Error);
  EXPECT_THROW(with({.noise_range = ParameterRange{2, 1}}), Error);
  EXPECT_THROW(with({.tolerance = 0}), Error);
  EXPECT_THROW(with({.kind = Kind::both}), Error);
  EXPECT_THROW(with({.w_std_range = {1, 1}, .b_std_range = {0, 0}, .noise_range = ParameterRange{1, 1}}), Error);
  EXPECT_THROW(with({}, "flatten"), Error);
}

}  // namespace
}  // namespace widelimit
