#include "tests/base/normal_rows.hpp"
#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/cuda/cuda.hpp"
#include "widelimit/engine/cuda/device.hpp"
#include "widelimit/engine/cuda/plane/plane_path.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace widelimit::cuda {
namespace {

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

/// Differences relative to the largest entry. float64: some hundred rounding errors of 1e-16, divided by √t of the
/// patches, where t is at least 1e-4. float32: the same with 6e-8.
TEST(CudaPlanes, LoweredRecipesEqualTheProcessor) {
  const auto engine = make_engine("cpu");
  const auto device = test::make_host_device();
  for (const Case& test : cases) {
    SCOPED_TRACE(test.network);
    const Network network = Network::parse(test.network);
    const Matrix<double> x1 = normal_rows(3, test.shape.size(), 1);
    const Matrix<double> x2 = normal_rows(18, test.shape.size(), 2);
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

/// Shared memory of a block minus the static arrays of the plug-in: compute capability 9.0, 8.0, and 8.6, 8.9.
constexpr int hopper = (227 - 1) * 1024;
constexpr int ampere = (163 - 1) * 1024;
constexpr int small_ampere = (99 - 1) * 1024;

/// Returns the readout of the register stack, or −1.
int readout(const char* text, const Shape& shape, Precision precision, int shared_memory = hopper) {
  const Recipe recipe = lower(Network::parse(text), shape, RecipeOutputs::ntk);
  const LoweredPlanes lowered = lower_planes(recipe, precision, shared_memory);
  EXPECT_EQ(lowered.obstacle, "");
  return lowered.registers ? static_cast<int>(lowered.readout) : -1;
}

TEST(CudaPlanes, StacksRunInRegistersWhereTheyCan) {
  const Shape shape{32, 32, 3};
  EXPECT_EQ(readout("cntk:20(readout=pool)", shape, Precision::f32), static_cast<int>(RegisterReadout::total));
  EXPECT_EQ(readout("cntk:20(readout=flatten)", shape, Precision::f32), static_cast<int>(RegisterReadout::flat));
  EXPECT_EQ(readout("myrtle10", shape, Precision::f32), static_cast<int>(RegisterReadout::pool));
  EXPECT_EQ(readout("cntk:20(readout=pool)", shape, Precision::f64), -1);
  EXPECT_EQ(readout("cntk:20(readout=pool)", {40, 40, 3}, Precision::f32), -1);
  EXPECT_EQ(readout("conv(b_std=0.1) relu global_avg_pool dense", shape, Precision::f32), -1);
}

/// A table of both images takes 8 KiB, pooled planes 80 KiB: 98 KiB hold 12 tables, or 2 beside pooled planes.
TEST(CudaPlanes, StacksStayInRegistersWhereSharedMemorySuffices) {
  const auto pools = [](Index channels, int shared_memory) {
    return readout("conv relu avg_pool conv relu global_avg_pool dense", {32, 32, channels}, Precision::f32,
                   shared_memory) == static_cast<int>(RegisterReadout::pool);
  };
  EXPECT_TRUE(pools(15, hopper));
  EXPECT_TRUE(pools(9, ampere));
  EXPECT_FALSE(pools(10, ampere));
  EXPECT_TRUE(pools(1, small_ampere));
  EXPECT_FALSE(pools(3, small_ampere));
  const auto totals = [](Index channels, int shared_memory) {
    return readout("cntk:20(readout=pool)", {32, 32, channels}, Precision::f32, shared_memory) ==
           static_cast<int>(RegisterReadout::total);
  };
  EXPECT_TRUE(totals(11, small_ampere));
  EXPECT_FALSE(totals(12, small_ampere));
  EXPECT_TRUE(totals(15, ampere));
  EXPECT_EQ(readout("cntk:20(readout=flatten)", {32, 32, 3}, Precision::f32, small_ampere),
            static_cast<int>(RegisterReadout::flat));
  EXPECT_EQ(readout("cntk:20(readout=pool)", {32, 32, 3}, Precision::f32, 0), -1);
}

/// 17 KiB for each layer on 16 rows and columns.
TEST(CudaPlanes, StagesArePackedWhereSharedMemorySuffices) {
  const auto packed = [](int layers, int shared_memory) {
    const std::string text =
        "conv relu avg_pool repeat(" + std::to_string(layers) + "){conv relu} global_avg_pool dense";
    const Recipe recipe = lower(Network::parse(text), {32, 32, 3}, RecipeOutputs::ntk);
    const LoweredPlanes lowered = lower_planes(recipe, Precision::f32, shared_memory);
    return lowered.stages.front().packed.has_value() || lowered.stages.at(1).packed.has_value();
  };
  EXPECT_TRUE(packed(12, hopper));
  EXPECT_TRUE(packed(9, ampere));
  EXPECT_FALSE(packed(10, ampere));
  EXPECT_TRUE(packed(5, small_ampere));
  EXPECT_FALSE(packed(6, small_ampere));
}

TEST(CudaPlanes, OldDevicesAreListedAsAbsent) {
  const DeviceFacts old{.name = "Turing", .major = 7, .minor = 5};
  const DeviceFacts present{.name = "Hopper", .memory = std::size_t{1} << 37, .major = 9, .driver = 13000};
  const EnginePresence none = cuda_presence(std::span(&old, 1));
  EXPECT_FALSE(none.present);
  EXPECT_EQ(none.detail, "cuda:0 is absent: Turing has compute capability 7.5; 8.0 or later is required");
  const EnginePresence both = cuda_presence(std::vector{old, present});
  EXPECT_TRUE(both.present);
  EXPECT_NE(both.detail.find("; cuda:1 Hopper, 128 GiB of memory"), std::string::npos) << both.detail;
}

TEST(CudaPlanes, ObstaclesSayWhatIsInTheWay) {
  const auto obstacle = [](const char* text) {
    const Recipe recipe = lower(Network::parse(text), {8, 8, 3}, RecipeOutputs::ntk);
    return lower_planes(recipe, Precision::f64, hopper).obstacle;
  };
  EXPECT_EQ(obstacle("conv relu attention flatten dense"), "attention mixes all positions");
  EXPECT_EQ(obstacle("conv erf flatten dense"), "erf on images");
}

}  // namespace
}  // namespace widelimit::cuda
