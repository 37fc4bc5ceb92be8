#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Dense kernels on a device beyond the golden values.
class DensePath : public test::BesideCpu {
 protected:
  DensePath() : x_(41, 6) {
    for (Index k = 0; k < 41 * 6; ++k) x_.data()[k] = std::sin(1.7 * static_cast<double>(k)) + (k % 3 == 0 ? 0.5 : 0.0);
  }
  [[nodiscard]] SampleView samples() const { return {x_.view(), Shape{1, 1, 6}}; }

  Matrix<double> x_;
};

void expect_near(const AnyMatrix& a, const AnyMatrix& b) {
  const auto& one = std::get<Matrix<double>>(a);
  const auto& other = std::get<Matrix<double>>(b);
  ASSERT_EQ(one.rows(), other.rows());
  // Both store 1 − ρ separately; the difference is a few ulps per step.
  for (Index k = 0; k < one.rows() * one.cols(); ++k) {
    EXPECT_NEAR(one.data()[k], other.data()[k], 1e-12 * (1 + std::abs(other.data()[k])));
  }
}

TEST_P(DensePath, CarriesMoreChannelsThanOnePass) {
  const Network network = Network::parse("fc:11(w_std=1.4, b_std=0.1)");
  expect_near(sweep(network, samples(), {}, *engine_).values, sweep(network, samples(), {}, *cpu_).values);
}

TEST_P(DensePath, AddsBranchesInsideBranches) {
  const Network network =
      Network::parse("dense residual{ relu dense residual{ tanh dense(b_std=0.3) } | dense } layer_norm erf dense");
  const GramOptions both{.kind = Kind::both};
  const Gram ours = gram(network, samples(), both, *engine_);
  const Gram theirs = gram(network, samples(), both, *cpu_);
  expect_near(ours.nngp, theirs.nngp);
  expect_near(ours.ntk, theirs.ntk);
}

TEST_P(DensePath, TakesSparseSamples) {
  const SparseMatrix sparse = sparse_copy(samples());
  const Network network = Network::parse("fc:2(w_std=1.4)");
  expect_near(gram(network, SampleView(sparse.view(), Shape{1, 1, 6}), {}, *engine_).ntk,
              gram(network, samples(), {}, *cpu_).ntk);
}

/// More branches and outputs than one pass over a tile supports, also for sparse samples.
TEST_P(DensePath, TakesDeepNetworks) {
  const Network network = Network::parse(
      "dense residual{ relu dense residual{ erf dense residual{ relu dense residual{ abs dense } } } } relu dense");
  const GramOptions both{.kind = Kind::both};
  const Gram theirs = gram(network, samples(), both, *cpu_);
  const SparseMatrix sparse = sparse_copy(samples());
  for (const SampleView& x : {samples(), SampleView(sparse.view(), Shape{1, 1, 6})}) {
    const Gram ours = gram(network, x, both, *engine_);
    expect_near(ours.nngp, theirs.nngp);
    expect_near(ours.ntk, theirs.ntk);
  }
  const Network deep = Network::parse("fc:23");  // 276 kernels
  expect_near(sweep(deep, samples(), {}, *engine_).values, sweep(deep, samples(), {}, *cpu_).values);
}

/// Products by digits and the fused pass without branches and biases, on sizes that are no multiples of a block: with
/// an outlier, whose products need the last sum, a zero sample, and nearly parallel, equal and opposite samples.
TEST_P(DensePath, IsRightInFloatOnAwkwardSamples) {
  constexpr Index n = 175;
  constexpr Index d = 37;
  Matrix<double> x(n, d);
  for (Index k = 0; k < n * d; ++k) x.data()[k] = std::sin(1.7 * static_cast<double>(k)) + (k % 5 == 0 ? 0.5 : 0.0);
  for (Index j = 0; j < d; ++j) {
    x(3, j) *= j == 0 ? 1e3 : 1.0;
    x(5, j) = j == 1 ? 2e3 : x(5, j);
    x(8, j) = 0;
    x(20, j) = x(9, j) * (1 + 1e-3 * static_cast<double>(j % 2));
    x(21, j) = -3 * x(9, j);
    x(40, j) = 2 * x(9, j);
  }
  const SampleView all(x.view(), Shape{1, 1, d});
  for (const char* text : {"fc:3(w_std=1.4142)", "dense leaky_relu(slope=0.2) dense leaky_relu(slope=0.2) dense",
                           "dense abs dense relu dense", "dense(frozen=true) relu dense", "fc:2(b_std=0.2)", "dense"}) {
    const Network network = Network::parse(text);
    for (const Kind kind : {Kind::ntk, Kind::nngp}) {
      const auto matrix = [&](Gram of) { return std::move(kind == Kind::ntk ? of.ntk : of.nngp); };
      const AnyMatrix expected = matrix(gram(network, all, {.kind = kind}, *cpu_));
      const auto& k = std::get<Matrix<double>>(expected);
      const GramOptions single{.kind = kind, .precision = Precision::f32};
      const AnyMatrix symmetric = matrix(gram(network, all, single, *engine_));
      const AnyMatrix part = matrix(gram(network, all.part(3, 131), all, single, *engine_));
      const auto& whole = std::get<Matrix<float>>(symmetric);
      const auto& rows = std::get<Matrix<float>>(part);
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          // Relative error of 1e-5 of an entry without cancellation.
          const double allowed = 1e-5 * std::sqrt(k(i, i) * k(j, j));
          EXPECT_NEAR(whole(i, j), k(i, j), allowed) << text << " " << i << " " << j;
          EXPECT_EQ(whole(i, j), whole(j, i));
          if (i >= 3 && i < 134 && i < j) {
            EXPECT_EQ(rows(i - 3, j), whole(i, j)) << text << " " << i << " " << j;
          }
        }
      }
    }
  }
}

TEST_P(DensePath, RefusesByName) {
  register_activation("cube", [](std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * x[i] * x[i];
  });
  const auto expect_refused = [&](const char* text, const Shape& shape, const char* reason) {
    try {
      (void)gram(Network::parse(text), SampleView(x_.view(), shape), {}, *engine_);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::usage);
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  expect_refused("dense custom(name=cube) dense", {1, 1, 6}, "user-defined");
}

TEST_P(DensePath, NamesThePairThatOverflows) {
  for (Index j = 0; j < 6; ++j) x_(7, j) *= 1e25;
  try {
    (void)gram(Network::parse("fc:1"), samples(), {.precision = Precision::f32}, *engine_);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
    EXPECT_NE(std::string(error.what()).find("7 and 7"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, DensePath, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace widelimit
