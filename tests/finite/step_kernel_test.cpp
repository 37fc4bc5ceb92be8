#include "widelimit/finite/tangent/step_kernel.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

/// Steps of rate η differ from the empirical NTK by O(η): halving η halves the difference.
TEST(StepKernel, TendsToTheEmpiricalNtk) {
  Matrix<double> x(5, 3);
  Random(4).normals(0, 15, 1.0, x.data());
  Matrix<double> y(5, 1);
  for (Index i = 0; i < 5; ++i) y(i, 0) = i % 2 == 0 ? 1 : -1;
  const SampleView samples(x.view(), Shape{1, 1, 3});
  const TrainedNetwork network =
      train(Network::parse("dense tanh dense"), {samples, y.view()}, {.width = 32, .rate = 0.05, .steps = 20});
  const auto& weights = std::get<Parameters<double>>(network.parameters);
  const Tensor<double> tensor = read_samples<double>(samples, network.architecture.input);
  const Matrix<double> ntk = empirical_ntk(network.architecture, weights, tensor, tensor);
  const auto difference = [&](double rate) {
    const Matrix<double> steps = step_kernel(network, false, samples, samples, rate);
    double largest = 0;
    for (Index i = 0; i < 25; ++i) largest = std::max(largest, std::abs(steps.data()[i] - ntk.data()[i]));
    return largest;
  };
  EXPECT_NEAR(difference(1e-3) / difference(5e-4), 2, 0.02);
  EXPECT_LT(difference(1e-6), 1e-5);
  const Matrix<double> before = step_kernel(network, true, samples, samples, 1e-6);
  EXPECT_GT(std::abs(before(0, 0) - ntk(0, 0)), 1e-4);
  EXPECT_THROW((void)step_kernel(network, false, samples, samples, 0), Error);
  EXPECT_THROW((void)step_kernel(network, false, samples, SampleView(x.view(), Shape{1, 1, 2}), 1), Error);
}

}  // namespace
}  // namespace widelimit
