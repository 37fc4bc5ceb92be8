#include "widelimit/network/weight_std.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace widelimit {
namespace {

const char* const nested = "conv(w_std=2) relu residual{ conv(b_std=0.5) erf dense | dense(w_std=3) } flatten dense";

TEST(WeightStd, IsSetInEveryWeightLayerAlsoInsideResiduals) {
  const Network network = Network::parse(nested);
  const Network found = with_std(network, {1.5, 0.25});
  EXPECT_EQ(found, Network::parse("conv(w_std=1.5, b_std=0.25) relu residual{ conv(w_std=1.5, b_std=0.25) erf "
                                  "dense(w_std=1.5, b_std=0.25) | dense(w_std=1.5, b_std=0.25) } flatten "
                                  "dense(w_std=1.5, b_std=0.25)"));
  EXPECT_EQ(network, Network::parse(nested));
  EXPECT_EQ(count_weight_layers(network), 5);
}

TEST(WeightStd, ScalesWhatEveryLayerHas) {
  const Network found = with_scaled_std(Network::parse(nested), {2, 4});
  EXPECT_EQ(found, Network::parse("conv(w_std=4) relu residual{ conv(w_std=2, b_std=2) erf dense(w_std=2) | "
                                  "dense(w_std=6) } flatten dense(w_std=2)"));
  EXPECT_EQ(first_std(found), (WeightStd{4, 0}));
  EXPECT_TRUE(has_biases(found));
  EXPECT_FALSE(has_biases(Network::parse("fc:3")));
}

TEST(WeightStd, RefusesWhatIsNoDeviation) {
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)with_std(Network::parse("fc:1"), {bad, 0}), Error);
    EXPECT_THROW((void)with_scaled_std(Network::parse("fc:1"), {1, bad}), Error);
  }
  EXPECT_FALSE(first_std(Network::parse("relu")).has_value());
}

}  // namespace
}  // namespace widelimit
