#include "widelimit/base/random.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

/// Evaluation of all samples is only for the record: without it the weights are bit-identical.
TEST(Train, WithoutLooksTakesTheSameSteps) {
  Matrix<double> x(12, 3);
  Matrix<double> y(12, 1);
  const Random random(3);
  random.normals(0, 36, 1.0, x.data());
  for (Index i = 0; i < 12; ++i) y(i, 0) = x(i, 0) > 0 ? 1.0 : -1.0;
  TrainOptions options;
  options.width = 16;
  options.loss.kind = LossKind::hinge;
  options.batch = 4;
  options.steps = 9;
  const TrainData data{.x = SampleView(x.view(), {1, 1, 3}), .y = y.view()};
  const TrainedNetwork seen = train(Network::parse("eq2"), data, options);
  options.look = false;
  const TrainedNetwork unseen = train(Network::parse("eq2"), data, options);
  EXPECT_TRUE(unseen.summary.finished());
  EXPECT_EQ(unseen.summary.steps, 9);
  EXPECT_TRUE(unseen.record.loss.empty());
  EXPECT_FALSE(seen.record.loss.empty());
  const auto& w = std::get<Parameters<double>>(seen.parameters);
  const auto& v = std::get<Parameters<double>>(unseen.parameters);
  for (std::size_t l = 0; l < w.slots.size(); ++l) EXPECT_EQ(w.slots[l].w, v.slots[l].w);
}

}  // namespace
}  // namespace widelimit
