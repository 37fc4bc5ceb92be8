#include "widelimit/base/random.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

// The hinge and insensitive losses of an output that overflows are 0 or infinite by its sign, and that of NaN may be 0:
// only the outputs tell that a training diverged.
TEST(Divergence, OutputsThatOverflowHaveIt) {
  Matrix<double> x(6, 3), signs(6, 1), classes(6, 2);
  Random(7, 5).normals(0, 18, 1.0, x.data());
  for (Index i = 0; i < 6; ++i) {
    signs(i, 0) = i % 2 == 0 ? 1 : -1;
    classes(i, i % 2) = 1;
  }
  for (const LossKind loss : {LossKind::squared, LossKind::hinge, LossKind::squared_hinge, LossKind::insensitive,
                              LossKind::logistic, LossKind::softmax}) {
    const Matrix<double>& y = loss == LossKind::softmax ? classes : signs;
    for (const double rate : {1e160, 1e300}) {
      const TrainedNetwork trained = train(Network::parse("dense relu dense"), {{x.view(), {1, 1, 3}}, y.view()},
                                           {.width = 30, .loss = {loss}, .rate = rate, .steps = 50});
      EXPECT_EQ(trained.summary.ending, TrainEnding::diverged) << to_string(loss) << ", " << rate;
      for (const double value : trained.record.loss) EXPECT_TRUE(std::isfinite(value));
    }
  }
}

TEST(Divergence, LossesOfNanAreNan) {
  for (const LossKind loss : {LossKind::squared, LossKind::hinge, LossKind::squared_hinge, LossKind::insensitive}) {
    EXPECT_TRUE(std::isnan(loss_value({loss}, std::nan(""), 1.0))) << to_string(loss);
  }
}

}  // namespace
}  // namespace widelimit
