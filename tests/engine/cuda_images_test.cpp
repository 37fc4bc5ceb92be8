#include "tests/base/normal_rows.hpp"
#include "tests/engine/device_kernels.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

Matrix<double> images(Index n, const Shape& shape) { return normal_rows(n, shape.size(), 7); }

/// Image kernels on a device beyond the golden values.
class CudaImages : public test::DeviceKernels {
 protected:
  /// Returns the largest difference from the cpu for n images.
  [[nodiscard]] double from_cpu(const char* text, const Shape& shape, Index n, Precision precision) const {
    const Matrix<double> x = images(n + 5, shape);
    const SampleView all{x.view(), shape};
    return difference(text, all.part(0, 5), all.part(5, n), precision, *cpu_);
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, CudaImages, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& of) { return of.param; });

/// Tolerances as in cuda_planes_test.cpp.
TEST_P(CudaImages, KernelsEqualTheProcessor) {
  const char* network = "conv residual{ relu conv(b_std=0.2) } relu avg_pool conv relu global_avg_pool dense";
  EXPECT_LE(from_cpu(network, {6, 4, 2}, 7, Precision::f64), 1e-11);
  EXPECT_LE(from_cpu(network, {6, 4, 2}, 7, Precision::f32), 2e-5);
  EXPECT_LE(from_cpu("conv relu dropout(rate=0.8) conv relu flatten dense", {4, 5, 3}, 7, Precision::f64), 1e-11);
}

/// Register stacks and packed planes, which exist only on devices.
class CudaRegisters : public CudaImages {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaRegisters);
INSTANTIATE_TEST_SUITE_P(Engines, CudaRegisters, testing::ValuesIn(test::engines_and_cuda({})),
                         [](const auto& of) { return of.param; });

TEST_P(CudaRegisters, StacksEqualTheProcessor) {
  for (const Shape& shape : {Shape{32, 32, 3}, Shape{28, 28, 1}, Shape{16, 24, 2}}) {
    SCOPED_TRACE(to_string(shape));
    EXPECT_LE(from_cpu("cntk:9(readout=pool)", shape, 6, Precision::f32), 2e-5);
    EXPECT_LE(from_cpu("cntk:9(readout=flatten)", shape, 19, Precision::f32), 2e-5);
    EXPECT_LE(
        from_cpu("conv relu conv relu avg_pool conv relu conv relu global_avg_pool dense", shape, 6, Precision::f32),
        2e-5);
  }
  EXPECT_LE(from_cpu("myrtle10", {32, 32, 3}, 6, Precision::f32), 2e-5);
  EXPECT_LE(from_cpu("cntk:3(readout=pool)", {40, 36, 3}, 6, Precision::f32), 2e-5);
}

/// Several tangent channels at once.
TEST_P(CudaImages, SharesOfLayersEqualTheProcessor) {
  const Shape shape{6, 4, 2};
  const Matrix<double> x = images(6, shape);
  const Network network = Network::parse("conv relu avg_pool conv relu global_avg_pool dense");
  const LayerContributions ours = layer_contributions(network, {x.view(), shape}, {}, *engine_);
  const LayerContributions exact = layer_contributions(network, {x.view(), shape}, {}, *cpu_);
  ASSERT_EQ(ours.ntk.size(), 3U);
  for (std::size_t layer = 0; layer < 3; ++layer) EXPECT_LE(worst(ours.ntk[layer], exact.ntk[layer]), 1e-11);
}

TEST_P(CudaImages, TilesAndTheDiagonalAreTheSameKernel) {
  const Shape shape{5, 4, 2};
  const Matrix<double> x = images(9, shape);
  for (const char* text : {"conv relu dropout(rate=0.8) conv relu flatten dense", "conv relu global_avg_pool dense"}) {
    expect_tiles_of_one_kernel(text, {x.view(), shape});
  }
}

TEST_P(CudaImages, WhatLeavesTheRangeIsNamed) {
  expect_range_of_float("conv relu global_avg_pool dense", images(4, {4, 4, 1}));
}

}  // namespace
}  // namespace widelimit
