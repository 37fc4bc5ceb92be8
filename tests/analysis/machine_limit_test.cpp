#include "widelimit/analysis/dynamics/machine_limit.hpp"

#include "dynamics_fixture.hpp"

#include "widelimit/analysis/dynamics/convergence_rate.hpp"
#include "widelimit/finite/training/targets.hpp"

namespace widelimit {
namespace {

Matrix<double> targets_for(LossKind kind, Index n) {
  if (kind == LossKind::squared || kind == LossKind::insensitive) return random_numbers(n, 2);
  std::vector<Index> labels;
  for (Index i = 0; i < n; ++i) labels.push_back((i * i + i / 3) % 3);
  return class_targets(labels, 3, {kind});
}

class MachineLimit : public testing::TestWithParam<LossKind> {};

/// Optimality condition: λα = −l', or λα in the subdifferential at a kink.
TEST_P(MachineLimit, IsWhereNothingMovesAnyMore) {
  const Index n = 37;
  const Matrix<double> k = random_gram(n, 50);
  const Matrix<double> y = targets_for(GetParam(), n);
  const double lambda = 0.4;
  const DynamicsInput input{n, y.view(), {.kind = GetParam()}, lambda};
  const std::optional<Fit> fit = machine_limit(k.view(), input, 1e-11, nullptr);
  ASSERT_TRUE(fit.has_value());
  const Matrix<double> g = product_of(k, fit->alpha);
  const auto width = static_cast<std::size_t>(y.cols());
  for (Index i = 0; i < n; ++i) {
    std::vector<double> above(width);
    std::vector<double> below(width);
    std::vector<double> z(g.view().row(i), g.view().row(i) + width);
    // Slopes slightly to both sides bracket that of the solution, which is known only up to the gap.
    for (double& value : z) value += 1e-3;
    loss_slopes(input.loss, z, {y.view().row(i), width}, above);
    for (double& value : z) value -= 2e-3;
    loss_slopes(input.loss, z, {y.view().row(i), width}, below);
    for (std::size_t j = 0; j < width; ++j) {
      const double pull = -lambda * fit->alpha(i, static_cast<Index>(j));
      EXPECT_LE(pull, std::max(above[j], below[j]) + 1e-3);
      EXPECT_GE(pull, std::min(above[j], below[j]) - 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, MachineLimit,
                         testing::Values(LossKind::squared, LossKind::hinge, LossKind::squared_hinge,
                                         LossKind::insensitive, LossKind::logistic, LossKind::softmax));

TEST(MachineLimits, DoNotExistWithoutLambdaOrWithOneClass) {
  const Matrix<double> k = random_gram(4, 4);
  const Matrix<double> y = random_signs(4, 1);
  Matrix<double> same(4, 1);
  std::fill_n(same.data(), 4, 1.0);
  EXPECT_FALSE(machine_limit(k.view(), {4, y.view(), {.kind = LossKind::hinge}, 0}, 1e-9, nullptr).has_value());
  EXPECT_FALSE(machine_limit(k.view(), {4, same.view(), {.kind = LossKind::hinge}, 1}, 1e-9, nullptr).has_value());
  // The flow does not need a second class.
  FlowOptions options;
  options.loss.kind = LossKind::hinge;
  options.times = {1, infinite_time};
  EXPECT_TRUE(*flow(k.view(), same.view(), options).rate.holds);
}

TEST(LossTargets, AreWhatEachLossLearnsClassesBy) {
  const std::vector<Index> two{0, 1, 1};
  const Matrix<double> sign = class_targets(two, 2, {LossKind::squared});
  ASSERT_EQ(sign.cols(), 1);
  EXPECT_EQ(sign(0, 0), -1);
  EXPECT_EQ(sign(2, 0), 1);
  const Matrix<double> shares = class_targets(two, 2, {LossKind::softmax});
  ASSERT_EQ(shares.cols(), 2);
  EXPECT_EQ(shares(0, 0), 1);
  EXPECT_EQ(shares(0, 1), 0);
  const Matrix<double> rest = class_targets(two, 3, {LossKind::hinge});
  EXPECT_EQ(rest(0, 0), 1);
  EXPECT_EQ(rest(0, 2), -1);
  EXPECT_EQ(class_targets(two, 3, {LossKind::insensitive})(0, 2), 0);
  EXPECT_THROW((void)class_targets(two, 1, {LossKind::hinge}), Error);
  EXPECT_EQ(loss_scheme(LossKind::hinge, 2), Scheme::sign);
  EXPECT_EQ(loss_scheme(LossKind::softmax, 2), Scheme::softmax);
  EXPECT_EQ(loss_scheme(LossKind::hinge, 3), Scheme::one_vs_rest);
  EXPECT_EQ(loss_scheme(LossKind::squared, 3), Scheme::one_hot);
}

/// Second differences of a loss never exceed the curvature that defines the largest stable step.
TEST(StableSteps, BoundTheCurvatureOfLosses) {
  for (const LossKind kind : {LossKind::squared, LossKind::squared_hinge, LossKind::logistic}) {
    double largest = 0;
    for (double z = -4; z <= 4; z += 0.01) {
      const Loss loss{.kind = kind};
      largest = std::max(largest, (loss_slope(loss, z + 1e-4, 1) - loss_slope(loss, z - 1e-4, 1)) / 2e-4);
    }
    EXPECT_NEAR(largest, *largest_curvature(kind), 1e-4);
  }
  EXPECT_FALSE(largest_curvature(LossKind::hinge).has_value());
}

}  // namespace
}  // namespace widelimit
