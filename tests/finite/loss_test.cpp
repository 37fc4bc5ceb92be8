#include "widelimit/finite/training/loss.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {
namespace {

constexpr LossKind single[]{LossKind::squared, LossKind::hinge, LossKind::squared_hinge, LossKind::insensitive,
                            LossKind::logistic};

// Central difference: error h²/6·|l'''| ≤ 2e-11 for these losses, and rounding eps·l/h ≤ 1e-10.
TEST(Loss, SlopeIsTheDifferenceQuotient) {
  const double h = 1e-5;
  for (const LossKind kind : single) {
    for (const double y : {-1.0, 1.0}) {
      for (const double z : {-2.3, -0.7, 0.0, 0.31, 0.85, 1.7}) {
        const Loss loss{kind, 0.1};
        const double quotient = (loss_value(loss, z + h, y) - loss_value(loss, z - h, y)) / (2 * h);
        EXPECT_NEAR(loss_slope(loss, z, y), quotient, 1e-9) << to_string(kind) << " at " << z;
      }
    }
  }
}

TEST(Loss, IsZeroSlopeOnTheKink) {
  EXPECT_EQ(loss_slope({LossKind::hinge}, 1.0, 1.0), 0);
  EXPECT_EQ(loss_slope({LossKind::insensitive, 0.5}, 1.5, 1.0), 0);
}

TEST(Loss, LogisticStaysFiniteFarOut) {
  const Loss loss{LossKind::logistic};
  EXPECT_EQ(loss_value(loss, -1e300, 1.0), 1e300);
  EXPECT_EQ(loss_value(loss, 1e300, 1.0), 0.0);
  EXPECT_EQ(loss_slope(loss, -1e300, 1.0), -1.0);
  EXPECT_DOUBLE_EQ(loss_value(loss, 40.0, 1.0), std::exp(-40.0));
}

TEST(Loss, SoftmaxOfTwoIsLogisticOfTheDifference) {
  const std::vector<double> z{0.4, -1.1};
  const std::vector<double> y{0.0, 1.0};
  std::vector<double> slope(2);
  loss_slopes({LossKind::softmax}, z, y, slope);
  EXPECT_DOUBLE_EQ(loss_value({LossKind::softmax}, z, y), logistic_loss(z[1] - z[0]));
  EXPECT_DOUBLE_EQ(slope[1], -logistic_tail(z[1] - z[0]));
  EXPECT_DOUBLE_EQ(slope[0], -slope[1]);
  const std::vector<double> far{1e300, -1e300};
  EXPECT_TRUE(std::isfinite(loss_value({LossKind::softmax}, far, std::vector<double>{1.0, 0.0})));
}

TEST(Loss, NamesGoBothWaysAndBadOnesAreRefused) {
  for (const LossKind kind : single) EXPECT_EQ(parse_loss(to_string(kind)), kind);
  EXPECT_THROW((void)parse_loss("hing"), Error);
  EXPECT_THROW((Loss{LossKind::insensitive, -1}.validate()), Error);
  EXPECT_THROW((Loss{LossKind::insensitive, std::numeric_limits<double>::quiet_NaN()}.validate()), Error);
  EXPECT_THROW((void)loss_slope({LossKind::softmax}, 1.0, 1.0), Error);
}

}  // namespace
}  // namespace widelimit
