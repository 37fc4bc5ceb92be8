#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/engine/cuda/dense_program.hpp"
#include "widelimit/engine/cuda/plugin/dense_math.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// What golden values do not ask of dense kernels on a device.
class DensePath : public testing::TestWithParam<std::string> {
 protected:
  DensePath() : engine_(test::engine_named(GetParam())), cpu_(make_engine("cpu")), x_(41, 6) {
    for (Index k = 0; k < 41 * 6; ++k) x_.data()[k] = std::sin(1.7 * static_cast<double>(k)) + (k % 3 == 0 ? 0.5 : 0.0);
  }
  [[nodiscard]] SampleView samples() const { return {x_.view(), Shape{1, 1, 6}}; }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Engine> cpu_;
  Matrix<double> x_;
};

void expect_near(const AnyMatrix& a, const AnyMatrix& b) {
  const auto& one = std::get<Matrix<double>>(a);
  const auto& other = std::get<Matrix<double>>(b);
  ASSERT_EQ(one.rows(), other.rows());
  // Both carry 1 − ρ; what is left are ulps of each step.
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
  expect_refused("dense custom(name=cube) dense", {1, 1, 6}, "of the user's own");
  expect_refused("conv erf flatten dense", {3, 2, 1}, "erf on images");
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

/// Rows of many numbers: their products may be those of digits.
class LongRows : public DensePath {
 protected:
  static constexpr Index rows = 197;
  static constexpr Index cols = 300;
  LongRows() : long_(rows, cols) {
    const Random random(5);
    for (Index k = 0; k < rows * cols; ++k) long_.data()[k] = random.normal(static_cast<std::uint64_t>(k));
  }
  /// Largest error of the float kernel beside the processor's in double, relative to both diagonal entries. The upper
  /// half has the bits of a matrix with the same samples on both sides.
  [[nodiscard]] double error() const {
    const Network network = Network::parse("fc:3(w_std=1.4)");
    const SampleView x(long_.view(), Shape{1, 1, cols});
    const Gram ours = gram(network, x, {.kind = Kind::ntk, .precision = Precision::f32}, *engine_);
    const Gram theirs = gram(network, x, {.kind = Kind::ntk}, *cpu_);
    const Gram beside = gram(network, x, x, {.kind = Kind::ntk, .precision = Precision::f32}, *engine_);
    const auto& found = std::get<Matrix<float>>(ours.ntk);
    const auto& expected = std::get<Matrix<double>>(theirs.ntk);
    double worst = 0;
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < rows; ++j) {
        EXPECT_EQ(found(i, j), found(j, i));
        EXPECT_TRUE(i >= j || found(i, j) == std::get<Matrix<float>>(beside.ntk)(i, j)) << i << ' ' << j;
        worst = std::max(worst, std::abs(static_cast<double>(found(i, j)) - expected(i, j)) /
                                    std::max(1e-30, std::sqrt(expected(i, i) * expected(j, j))));
      }
    }
    return worst;
  }
  Matrix<double> long_;
};

TEST_P(LongRows, HaveTheDigitsOfFloat) { EXPECT_LE(error(), 5e-7); }

TEST_P(LongRows, MayBeNearOneAnother) {
  // Equal, opposite, and at distances on both sides of where 1 − ρ is computed anew; few, so that digits serve.
  for (Index k = 0; k < cols; ++k) {
    long_(1, k) = long_(0, k);
    long_(3, k) = -3 * long_(2, k);
    long_(5, k) = long_(4, k) * (1 + 1e-4 * std::sin(static_cast<double>(k)));
    long_(7, k) = long_(6, k) + 0.08 * long_(8, k);
    long_(10, k) = long_(9, k) + 0.1 * long_(8, k);
    long_(11, k) = 0;
  }
  EXPECT_LE(error(), 2e-6);  // ε/√(2t) at t = 2⁻⁸
}

TEST_P(LongRows, MayHaveOneLargeNumber) {
  for (Index i = 0; i < rows; i += 2) long_(i, i) = 40;
  EXPECT_LE(error(), 5e-7);
}

TEST_P(LongRows, MayAllPointOneWay) {
  for (Index k = 0; k < rows * cols; ++k) long_.data()[k] = 30 + long_.data()[k];
  EXPECT_LE(error(), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Engines, LongRows, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& of) { return of.param; });

TEST(DenseDigits, ArePlacesOfTheNumber) {
  const auto largest = static_cast<std::int32_t>(cuda::largest_in_digits);
  for (const std::int32_t n : {0, 1, 127, 128, 129, 255, 256, 32639, 32640, 32768, 65536, 8355710, largest}) {
    for (const std::int32_t signed_n : {n, -n}) {
      const cuda::Digits digits = cuda::digits_of(signed_n);
      EXPECT_EQ((digits.first * 256 + digits.second) * 256 + digits.third, signed_n);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, DensePath, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace widelimit
