#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Image kernels on a device beyond the golden values.
class CudaImages : public testing::TestWithParam<std::string> {
 protected:
  CudaImages() : engine_(test::engine_named(GetParam())), cpu_(make_engine("cpu")) {}

  [[nodiscard]] static Matrix<double> images(Index n, const Shape& shape) {
    Matrix<double> x(n, shape.size());
    const Random random(7);
    for (Index k = 0; k < n * shape.size(); ++k) x.data()[k] = random.normal(static_cast<std::uint64_t>(k));
    return x;
  }
  /// Returns the largest difference from the cpu in float64, relative to the largest entry.
  [[nodiscard]] double difference(const char* text, const Shape& shape, Index n, Precision precision) const {
    const Network network = Network::parse(text);
    const Matrix<double> x = images(n + 5, shape);
    const SampleView few{x.view().block(0, 0, 5, x.cols()), shape};
    const SampleView rest{x.view().block(5, 0, n, x.cols()), shape};
    const GramOptions ours{.kind = Kind::both, .precision = precision};
    const GramOptions exact{.kind = Kind::both, .precision = Precision::f64};
    return std::max(compare(gram(network, few, rest, ours, *engine_), gram(network, few, rest, exact, *cpu_)),
                    compare(gram(network, rest, ours, *engine_), gram(network, rest, exact, *cpu_)));
  }

  [[nodiscard]] static double compare(const Gram& a, const Gram& b) {
    return std::max(compare(a.nngp, b.nngp), compare(a.ntk, b.ntk));
  }
  [[nodiscard]] static double compare(const AnyMatrix& ours, const AnyMatrix& exact) {
    const auto& expected = std::get<Matrix<double>>(exact);
    double scale = 0;
    double worst = 0;
    std::visit(
        [&](const auto& found) {
          for (Index k = 0; k < expected.rows() * expected.cols(); ++k) {
            scale = std::max(scale, std::abs(expected.data()[k]));
            const double difference = std::abs(static_cast<double>(found.data()[k]) - expected.data()[k]);
            if (!(difference <= worst)) worst = difference;
          }
        },
        ours);
    return worst / scale;
  }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Engine> cpu_;
};

INSTANTIATE_TEST_SUITE_P(Engines, CudaImages, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& of) { return of.param; });

/// Tolerances as in cuda_planes_test.cpp.
TEST_P(CudaImages, KernelsEqualTheProcessor) {
  const char* network = "conv residual{ relu conv(b_std=0.2) } relu avg_pool conv relu global_avg_pool dense";
  EXPECT_LE(difference(network, {6, 4, 2}, 7, Precision::f64), 1e-11);
  EXPECT_LE(difference(network, {6, 4, 2}, 7, Precision::f32), 2e-5);
  EXPECT_LE(difference("conv relu dropout(rate=0.8) conv relu flatten dense", {4, 5, 3}, 7, Precision::f64), 1e-11);
}

/// Register stacks and packed planes, which exist only on devices.
class CudaRegisters : public CudaImages {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaRegisters);
INSTANTIATE_TEST_SUITE_P(Engines, CudaRegisters, testing::ValuesIn(test::engines_and_cuda({})),
                         [](const auto& of) { return of.param; });

TEST_P(CudaRegisters, StacksEqualTheProcessor) {
  for (const Shape& shape : {Shape{32, 32, 3}, Shape{28, 28, 1}, Shape{16, 24, 2}}) {
    SCOPED_TRACE(to_string(shape));
    EXPECT_LE(difference("cntk:9(readout=pool)", shape, 6, Precision::f32), 2e-5);
    EXPECT_LE(difference("cntk:9(readout=flatten)", shape, 19, Precision::f32), 2e-5);
    EXPECT_LE(
        difference("conv relu conv relu avg_pool conv relu conv relu global_avg_pool dense", shape, 6, Precision::f32),
        2e-5);
  }
  EXPECT_LE(difference("myrtle10", {32, 32, 3}, 6, Precision::f32), 2e-5);
  EXPECT_LE(difference("cntk:3(readout=pool)", {40, 36, 3}, 6, Precision::f32), 2e-5);
}

/// Several tangent channels at once.
TEST_P(CudaImages, SharesOfLayersEqualTheProcessor) {
  const Shape shape{6, 4, 2};
  const Matrix<double> x = images(6, shape);
  const Network network = Network::parse("conv relu avg_pool conv relu global_avg_pool dense");
  const LayerContributions ours = layer_contributions(network, {x.view(), shape}, {}, *engine_);
  const LayerContributions exact = layer_contributions(network, {x.view(), shape}, {}, *cpu_);
  ASSERT_EQ(ours.ntk.size(), 3U);
  for (std::size_t layer = 0; layer < 3; ++layer) EXPECT_LE(compare(ours.ntk[layer], exact.ntk[layer]), 1e-11);
}

TEST_P(CudaImages, TilesAndTheDiagonalAreTheSameKernel) {
  const Shape shape{5, 4, 2};
  const Index n = 9;
  const Matrix<double> x = images(n, shape);
  const Kernels& kernels = engine_->kernels();
  for (const char* text : {"conv relu dropout(rate=0.8) conv relu flatten dense", "conv relu global_avg_pool dense"}) {
    const Recipe recipe = lower(Network::parse(text), shape, RecipeOutputs::both);
    const auto loaded = kernels.load(recipe, {x.view(), shape}, Precision::f64, [](Index) {});
    std::vector<EngineMatrix> all;
    for (int s = 0; s < 2; ++s) all.push_back(engine_->algebra().allocate(n, n, Precision::f64));
    Index done = 0;
    kernels.fill(recipe, *loaded, {0, n}, *loaded, {0, n}, true, all, [&](Index pairs) { done = pairs; });
    EXPECT_EQ(done, n * (n + 1) / 2);
    Matrix<double> diagonal(2, n);
    Matrix<double> again(2, n);
    kernels.diagonal(recipe, *loaded, diagonal.view(), [](Index) {});
    kernels.diagonal(recipe, *loaded, again.view(), [](Index) { FAIL() << "computed a second time"; });
    Matrix<double> part[2] = {Matrix<double>(3, 4), Matrix<double>(3, 4)};
    const MatrixView<double> views[2] = {part[0].view(), part[1].view()};
    kernels.tile(recipe, *loaded, {1, 4}, *loaded, {5, 9}, std::span<const MatrixView<double>>(views));
    for (int s = 0; s < 2; ++s) {
      Matrix<double> k(n, n);
      engine_->algebra().read(all[usize(s)], k.view());
      for (Index i = 0; i < n; ++i) {
        EXPECT_EQ(k(i, i), diagonal(s, i));
        EXPECT_EQ(again(s, i), diagonal(s, i));
        for (Index j = 0; j < n; ++j) EXPECT_EQ(k(i, j), k(j, i));
      }
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < 4; ++j) EXPECT_EQ(part[s](i, j), k(1 + i, 5 + j));
      }
    }
  }
}

TEST_P(CudaImages, WhatLeavesTheRangeIsNamed) {
  Matrix<double> x = images(4, {4, 4, 1});
  for (Index k = 0; k < 16; ++k) x(2, k) *= 1e30;
  const SampleView samples{x.view(), {4, 4, 1}};
  const Network network = Network::parse("conv relu global_avg_pool dense");
  try {
    (void)gram(network, samples, {.kind = Kind::ntk, .precision = Precision::f32}, *engine_);
    FAIL() << "10⁶⁰ fits no float32";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical) << error.what();
  }
  const Gram wide = gram(network, samples, {.kind = Kind::ntk, .precision = Precision::f64}, *engine_);
  EXPECT_GT(std::get<Matrix<double>>(wide.ntk)(2, 2), 1e58);
}

}  // namespace
}  // namespace widelimit
