#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/engine/cuda/plane/plane_path.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit::cuda {
namespace {

Matrix<double> normal(Index n, Index d, std::uint64_t seed) {
  Matrix<double> x(n, d);
  const Random random(seed);
  for (Index k = 0; k < n * d; ++k) x.data()[k] = random.normal(static_cast<std::uint64_t>(k));
  return x;
}

struct Case {
  const char* network;
  Shape shape;
};

const Case cases[] = {
    {"conv relu conv relu global_avg_pool dense", {5, 6, 3}},
    {"conv relu conv relu flatten dense", {6, 5, 2}},
    {"conv(b_std=0.3) leaky_relu(slope=0.2) conv(kernel=5x3, b_std=0.1) abs global_sum_pool dense relu dense",
     {6, 5, 1}},
    {"conv(strides=2x2) relu conv(kernel=2x3, padding=VALID) relu global_avg_pool dense", {7, 9, 2}},
    {"conv(padding=CIRCULAR) relu conv(kernel=5x3, padding=CIRCULAR) relu global_avg_pool dense", {4, 6, 2}},
    {"conv relu avg_pool conv relu avg_pool global_avg_pool dense", {8, 8, 3}},
    {"conv relu sum_pool(window=3x2, strides=2x1, padding=SAME) conv(strides=2x1) relu flatten dense", {6, 7, 2}},
    {"conv residual{ relu conv } relu conv residual{ conv relu conv | scale(by=0.7) conv } layer_norm relu "
     "global_avg_pool dense",
     {5, 4, 2}},
    {"conv relu dropout(rate=0.8) conv relu flatten dense", {4, 5, 3}},
};

/// Differences relative to the largest entry. float64: some hundred roundings of 1e-16, divided by √t of the patches,
/// which are not more alike than 1e-4. float32: the same with 6e-8.
TEST(CudaPlanes, LoweredRecipesEqualTheProcessor) {
  const auto engine = make_engine("cpu");
  const auto device = test::make_host_device();
  for (const Case& test : cases) {
    SCOPED_TRACE(test.network);
    const Network network = Network::parse(test.network);
    const Matrix<double> x1 = normal(3, test.shape.size(), 1);
    const Matrix<double> x2 = normal(18, test.shape.size(), 2);
    const SampleView rows{x1.view(), test.shape};
    const SampleView cols{x2.view(), test.shape};
    const Recipe recipe = lower(network, test.shape, RecipeOutputs::both);
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const PlanePath path(device, recipe, precision, 4096);
      ASSERT_EQ(path.lowered().obstacle, "");
      const GramOptions options{.kind = Kind::both, .precision = Precision::f64};
      const Gram expected = gram(network, rows, cols, options, *engine);
      const Gram own = gram(network, cols, options, *engine);
      const PlaneImages first = path.load(rows, 1, [](Index) {});
      const PlaneImages second = path.load(cols, 1, [](Index) {});
      Matrix<double> out[2] = {Matrix<double>(3, 18), Matrix<double>(3, 18)};
      Matrix<double> square[2] = {Matrix<double>(18, 18), Matrix<double>(18, 18)};
      Matrix<double> diagonal(2, 18);
      const auto views = [](Matrix<double>(&m)[2]) {
        return std::vector<PlaneOutput>{{m[0].data(), m[0].cols(), Precision::f64},
                                        {m[1].data(), m[1].cols(), Precision::f64}};
      };
      path.fill(first, {0, 3}, second, {0, 18}, false, views(out), [](Index) {});
      path.fill(second, {0, 18}, second, {0, 18}, true, views(square), [](Index) {});
      path.diagonal(second, diagonal.view(), [](Index) {});
      cuda::write_diagonal(device, diagonal.view(), {0, 18}, views(square));
      const double allowed = precision == Precision::f64 ? 1e-11 : 2e-5;
      for (int slot = 0; slot < 2; ++slot) {
        const auto& all = std::get<Matrix<double>>(slot == 0 ? expected.nngp : expected.ntk);
        const auto& self = std::get<Matrix<double>>(slot == 0 ? own.nngp : own.ntk);
        double scale = 0;
        double worst = 0;
        for (Index j = 0; j < 18; ++j) {
          for (Index i = 0; i < 3; ++i) {
            scale = std::max(scale, std::abs(all(i, j)));
            worst = std::max(worst, std::abs(all(i, j) - out[slot](i, j)));
          }
          for (Index i = 0; i < 18; ++i) {
            worst = std::max(worst, std::abs(self(i, j) - square[slot](i, j)));
          }
        }
        for (Index i = 0; i < 18; ++i) EXPECT_EQ(square[slot](i, i), diagonal(slot, i));
        EXPECT_LE(worst, allowed * scale) << "output " << slot << ", " << to_string(precision);
      }
    }
  }
}

TEST(CudaPlanes, StacksRunInRegistersWhereTheyCan) {
  const auto readout = [](const char* text, const Shape& shape, Precision precision) {
    const Recipe recipe = lower(Network::parse(text), shape, RecipeOutputs::ntk);
    const LoweredPlanes lowered = lower_planes(recipe, precision);
    EXPECT_EQ(lowered.obstacle, "");
    return lowered.registers ? static_cast<int>(lowered.readout) : -1;
  };
  const Shape shape{32, 32, 3};
  EXPECT_EQ(readout("cntk:20(readout=pool)", shape, Precision::f32), static_cast<int>(RegisterReadout::total));
  EXPECT_EQ(readout("cntk:20(readout=flatten)", shape, Precision::f32), static_cast<int>(RegisterReadout::flat));
  EXPECT_EQ(readout("myrtle10", shape, Precision::f32), static_cast<int>(RegisterReadout::pool));
  EXPECT_EQ(readout("cntk:20(readout=pool)", shape, Precision::f64), -1);
  EXPECT_EQ(readout("cntk:20(readout=pool)", {40, 40, 3}, Precision::f32), -1);
  EXPECT_EQ(readout("conv(b_std=0.1) relu global_avg_pool dense", shape, Precision::f32), -1);
}

TEST(CudaPlanes, ObstaclesSayWhatIsInTheWay) {
  const auto obstacle = [](const char* text) {
    const Recipe recipe = lower(Network::parse(text), {8, 8, 3}, RecipeOutputs::ntk);
    return lower_planes(recipe, Precision::f64).obstacle;
  };
  EXPECT_EQ(obstacle("conv relu attention flatten dense"), "attention mixes all positions");
  EXPECT_EQ(obstacle("conv erf flatten dense"), "erf on images");
}

}  // namespace
}  // namespace widelimit::cuda
