#include "widelimit/machine/ridge/conjugate_gradient.hpp"

#include "tests/engine/engines.hpp"
#include "tests/machine/elimination.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/kernel/network_gram.hpp"
#include "widelimit/machine/ridge/preconditioner.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/ridge/ridge_network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace widelimit {
namespace {

using test::line_gram;
using test::wavy_targets;

void expect_same(const Fit& a, const Fit& b, double tolerance) {
  double largest = 0;
  for (Index i = 0; i < b.alpha.rows(); ++i) {
    for (Index j = 0; j < b.alpha.cols(); ++j) largest = std::max(largest, std::abs(b.alpha(i, j)));
  }
  for (Index j = 0; j < b.alpha.cols(); ++j) {
    for (Index i = 0; i < b.alpha.rows(); ++i) {
      EXPECT_NEAR(a.alpha(i, j), b.alpha(i, j), tolerance * largest + 1e-15);
    }
    EXPECT_NEAR(a.bias[static_cast<std::size_t>(j)], b.bias[static_cast<std::size_t>(j)], tolerance);
  }
}

TEST(ConjugateGradient, IsCholesky) {
  for (const Index n : {1, 2, 37, 150}) {
    const Matrix<double> k = line_gram<double>(n);
    const Matrix<float> single = line_gram<float>(n);
    const Matrix<double> y = wavy_targets(n, 3);
    const GramMatrix product(k.view());
    for (const double lambda : {0.0, 1e-3, 1.0, 1e12}) {
      for (const bool bias : {false, true}) {
        for (const Index rank : {0, 20, 500}) {
          SCOPED_TRACE(testing::Message() << n << ' ' << lambda << ' ' << bias << ' ' << rank);
          const auto found = conjugate_gradients(product, y.view(),
                                                 {.lambda = lambda, .bias = bias, .tolerance = 1e-13, .rank = rank});
          EXPECT_TRUE(found.fit.summary.converged()) << found.fit.summary.message;
          EXPECT_EQ(std::ssize(found.residuals), found.fit.summary.iterations);
          expect_same(found.fit, fit_ridge(k.view(), y.view(), {.lambda = lambda, .bias = bias}), 1e-8);
        }
      }
    }
    const auto found = conjugate_gradients(single.view(), y.view(), {.tolerance = 1e-13});
    expect_same(found.fit, fit_ridge(single.view(), y.view()), 1e-8);
  }
}

TEST(ConjugateGradient, TakesWeightsAlsoOfZero) {
  const Matrix<double> k = line_gram<double>(60);
  const Matrix<double> y = wavy_targets(60, 2);
  std::vector<double> weights;
  for (Index i = 0; i < 60; ++i) weights.push_back(static_cast<double>(i % 4));
  for (const bool bias : {false, true}) {
    for (const double lambda : {0.0, 0.1}) {
      const auto found = conjugate_gradients(
          k.view(), y.view(), {.lambda = lambda, .bias = bias, .weights = weights, .tolerance = 1e-13, .rank = 10});
      const Fit expected = fit_ridge(k.view(), y.view(), {.lambda = lambda, .bias = bias, .weights = weights});
      expect_same(found.fit, expected, 1e-8);
      EXPECT_NEAR(*found.fit.summary.primal, *expected.summary.primal, 1e-9);
      EXPECT_EQ(found.fit.alpha(0, 0), 0.0);
    }
  }
}

TEST(ConjugateGradient, APreconditionerOfRankSavesSteps) {
  const Matrix<double> k = line_gram<double>(300);
  const Matrix<double> y = wavy_targets(300, 1);
  const GramMatrix product(k.view());
  const Index plain = std::ssize(conjugate_gradients(product, y.view(), {.lambda = 1e-3, .rank = 0}).residuals);
  const Index helped = std::ssize(conjugate_gradients(product, y.view(), {.lambda = 1e-3, .rank = 100}).residuals);
  EXPECT_LT(helped, plain / 2) << plain;
}

TEST(Preconditioner, OfFullRankIsTheInverse) {
  const Index n = 90;
  const Matrix<double> k = line_gram<double>(n);
  const Preconditioner inverse(k.view(), {}, 0.5, {.rank = n});
  EXPECT_GT(inverse.rank(), 80);
  const Matrix<double> y = wavy_targets(n, 1);
  Matrix<double> z(n, 1);
  inverse.apply(y.view(), z.view());
  const Fit exact = fit_ridge(k.view(), y.view(), {.lambda = 1});
  for (Index i = 0; i < n; ++i) EXPECT_NEAR(z(i, 0), exact.alpha(i, 0), 1e-2);
}

TEST(Preconditioner, EndsWhereSamplesRepeat) {
  const Matrix<double> few = line_gram<double>(3);
  Matrix<double> k(100, 100);
  for (Index i = 0; i < 100; ++i) {
    for (Index j = 0; j < 100; ++j) k(i, j) = few(i % 3, j % 3);
  }
  const Matrix<double> y = wavy_targets(100, 1);
  const auto found = conjugate_gradients(k.view(), y.view(), {.lambda = 0.1, .rank = 90});
  EXPECT_TRUE(found.fit.summary.converged());
  EXPECT_LT(found.fit.summary.iterations, 10);
}

TEST(ConjugateGradient, EndsInASummary) {
  const Matrix<double> k = line_gram<double>(100);
  const Matrix<double> y = wavy_targets(100, 1);
  const auto cut = conjugate_gradients(k.view(), y.view(), {.lambda = 1e-6, .max_iterations = 3, .rank = 0});
  EXPECT_EQ(cut.fit.summary.ending, Ending::iteration_limit);
  EXPECT_EQ(cut.residuals.size(), 3U);
  EXPECT_FALSE(cut.fit.summary.message.empty());
  Matrix<double> negative = line_gram<double>(100);
  for (Index i = 0; i < 100; ++i) negative(i, i) -= 3;
  const auto broken = conjugate_gradients(negative.view(), y.view(), {.lambda = 1e-6});
  EXPECT_EQ(broken.fit.summary.ending, Ending::not_positive_definite);
  EXPECT_EQ(broken.fit.alpha(0, 0), 0.0);
  const auto zero = conjugate_gradients(Matrix<double>(4, 4).view(), wavy_targets(4, 1).view(), {.lambda = 2});
  EXPECT_TRUE(zero.fit.summary.converged());
  EXPECT_THROW((void)conjugate_gradients(k.view(), y.view(), {.tolerance = 0}), Error);
  EXPECT_THROW((void)conjugate_gradients(k.view(), y.view(), {.rank = -1}), Error);
}

TEST(ConjugateGradient, TargetsOfZeroNeedNoStep) {
  const Matrix<double> k = line_gram<double>(5);
  const auto found = conjugate_gradients(k.view(), Matrix<double>(5, 2).view());
  EXPECT_TRUE(found.fit.summary.converged());
  EXPECT_EQ(found.fit.summary.iterations, 0);
}

Matrix<double> points(Index n, Index features) {
  Matrix<double> x(n, features);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < features; ++j)
      x(i, j) = std::sin(1.0 + 2.3 * static_cast<double>(i) + 5.1 * static_cast<double>(j * i % 17));
  }
  return x;
}

/// Kernels that are stored nowhere.
class NetworkGramOn : public testing::TestWithParam<std::string> {
 protected:
  /// Beside what is planned, a device holds the columns of a product and the steps of the network.
  static constexpr std::size_t vectors = std::size_t{1} << 17;
  const std::unique_ptr<Engine> engine =
      GetParam() == "cpu" ? make_engine("cpu", {.threads = 2}) : test::engine_named(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Engines, NetworkGramOn, testing::ValuesIn(test::engines_and_cuda({"cpu", "emulated"})),
                         [](const auto& of) { return of.param; });

TEST_P(NetworkGramOn, IsTheGramMatrixOfTheNetwork) {
  const Network network = Network::parse("fc:2");
  for (const Index n : {1, 2, 37, 400}) {
    const Matrix<double> x = points(n, 7);
    const SampleView samples(x.view(), Shape{1, 1, 7});
    const Gram whole = gram(network, samples, {}, *engine);
    const auto& k = std::get<Matrix<double>>(whole.ntk);
    const Matrix<double> v = wavy_targets(n, 3);
    const GramMatrix expected(k.view());
    Matrix<double> right(n, 3);
    expected.multiply(v.view(), right.view(), nullptr);
    NetworkGramOptions options{.precision = Precision::f64};
    const auto whole_product = network_gram(network, samples, options, *engine);
    // In one block, in smaller blocks, and in panels of samples.
    for (const std::size_t memory : {options.memory, whole_product.bytes() - 1, std::size_t{440'000}}) {
      if (memory < options.memory && n < 400) continue;
      options.memory = memory;
      const DeviceMemoryLimit limit(*engine, memory + vectors);
      const auto product = network_gram(network, samples, options, *engine);
      EXPECT_LE(product.bytes(), memory);
      ASSERT_EQ(product.samples(), n);
      Matrix<double> out(n, 3);
      product.multiply(v.view(), out.view(), nullptr);
      std::vector<Index> chosen{0, n - 1, n / 2};
      const Matrix<double> columns = product.columns(chosen);
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < 3; ++j) {
          EXPECT_NEAR(out(i, j), right(i, j), 1e-12 * static_cast<double>(n));
          EXPECT_NEAR(columns(i, j), k(i, chosen[static_cast<std::size_t>(j)]), 1e-14);
        }
        EXPECT_EQ(product.diagonal()[static_cast<std::size_t>(i)], k(i, i));
      }
    }
  }
}

TEST_P(NetworkGramOn, FitsWithoutTheGramMatrix) {
  const Network network = Network::parse("fc:1");
  const Matrix<double> x = points(200, 5);
  const SampleView samples(x.view(), Shape{1, 1, 5});
  const Matrix<double> y = wavy_targets(200, 2);
  const Gram whole = gram(network, samples, {.precision = Precision::f32}, *engine);
  const auto product = network_gram(network, samples, {}, *engine);
  const auto found = conjugate_gradients(product, y.view(), {.lambda = 0.1, .tolerance = 1e-12, .rank = 50});
  ASSERT_TRUE(found.fit.summary.converged());
  expect_same(found.fit, fit_ridge(view_of(whole.ntk), y.view(), {.lambda = 0.1}), 1e-5);
}

TEST_P(NetworkGramOn, IsRidgeWithinItsMemory) {
  const Network network = Network::parse("fc:1");
  const Matrix<double> x = points(600, 5);
  const SampleView samples(x.view(), Shape{1, 1, 5});
  const Matrix<double> y = wavy_targets(600, 2);
  const Gram whole = gram(network, samples, {.precision = Precision::f32}, *engine);
  const Fit exact = fit_ridge(view_of(whole.ntk), y.view(), {.lambda = 1, .bias = true});
  Index smaller = 0;
  for (const std::size_t memory : {std::size_t{3} << 20, std::size_t{64} << 20}) {
    RidgeNetworkOptions options;
    options.memory = memory;
    options.solver = {.lambda = 1, .bias = true, .tolerance = 1e-9};
    const auto found = fit_ridge(network, samples, y.view(), options, *engine);
    ASSERT_TRUE(found.fit.summary.converged()) << found.fit.summary.message;
    EXPECT_LE(found.fit.summary.memory, memory);
    EXPECT_GE(found.rank, smaller);
    smaller = found.rank;
    expect_same(found.fit, exact, 1e-5);
    const Matrix<double> g = decision(exact, view_of(whole.ntk));
    for (Index i = 0; i < 600; ++i) EXPECT_NEAR(found.decisions(i, 1), g(i, 1), 1e-5);
  }
  RidgeNetworkOptions none;
  none.memory = 1000;
  EXPECT_THROW((void)fit_ridge(network, samples, y.view(), none, *engine), Error);
  EXPECT_NEAR(dense_ridge_bytes(1000, 9, Precision::f64), 16e6, 1e6);
}

TEST(Preconditioner, OfFloat32IsAsGoodWhereTheRidgeIsLarge) {
  const Matrix<float> single = line_gram<float>(400);
  const Matrix<double> twice = line_gram<double>(400);
  const Preconditioner a(single.view(), {}, 0.5, {.rank = 60});
  const Preconditioner b(twice.view(), {}, 0.5, {.rank = 60});
  EXPECT_TRUE(a.single());
  EXPECT_FALSE(b.single());
  EXPECT_FALSE(Preconditioner(single.view(), {}, 1e-6, {.rank = 60}).single());
  const Matrix<double> y = wavy_targets(400, 2);
  for (const double lambda : {1.0, 1e-3}) {
    const auto fast = conjugate_gradients(single.view(), y.view(), {.lambda = lambda, .rank = 60});
    const auto sure = conjugate_gradients(twice.view(), y.view(), {.lambda = lambda, .rank = 60});
    EXPECT_TRUE(fast.fit.summary.converged());
    EXPECT_LE(fast.fit.summary.iterations, sure.fit.summary.iterations + 2) << lambda;
  }
}

TEST(Preconditioner, KeepsToItsMemory) {
  const Matrix<double> k = line_gram<double>(500);
  const std::size_t memory = std::size_t{1} << 19;
  const Preconditioner small(k.view(), {}, 1e-4, {.rank = 400, .memory = memory});
  EXPECT_GT(small.rank(), 10);
  EXPECT_LE(small.bytes(), memory);
}

TEST(NetworkGram, RefusesBadInput) {
  const auto engine = make_engine("cpu");
  const Matrix<double> none(0, 3);
  const Network network = Network::parse("fc:1");
  EXPECT_THROW((void)network_gram(network, SampleView(none.view(), Shape{1, 1, 3}), {}, *engine), Error);
  const Matrix<double> x = points(4, 3);
  EXPECT_THROW((void)network_gram(network, SampleView(x.view(), Shape{1, 1, 3}), {.kind = Kind::both}, *engine), Error);
  EXPECT_THROW((void)network_gram(network, SampleView(x.view(), Shape{1, 1, 3}), {.memory = 10}, *engine), Error);
}

TEST(ConjugateGradient, StopsWhenAsked) {
  const Matrix<double> k = line_gram<double>(60);
  const Matrix<double> y = wavy_targets(60, 1);
  const GramMatrix product(k.view());
  test::Stop stop;
  try {
    (void)conjugate_gradients(product, y.view(), {.rank = 0, .progress = &stop});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
  }
}

}  // namespace
}  // namespace widelimit
