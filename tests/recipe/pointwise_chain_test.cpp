#include "widelimit/recipe/pointwise_chain.hpp"

#include "widelimit/base/random.hpp"
#include "widelimit/network/network.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

double apply(const TwoSlopes& slopes, double x) { return (x >= 0 ? slopes.positive : slopes.negative) * x; }

double value_of(const PointwiseChain::Reduced& reduced, double x) {
  double y = 0;
  if (const auto* slopes = std::get_if<TwoSlopes>(&reduced.function)) {
    y = apply(*slopes, x);
  } else if (const auto* activation = std::get_if<Activation>(&reduced.function)) {
    y = evaluate(*activation, x);
  } else {
    const auto composed = compose(std::get<std::vector<Activation>>(reduced.function));
    composed->value({&x, 1}, {&y, 1});
  }
  return reduced.factor * y;
}

PointwiseChain chain_of(const std::string& text) {
  PointwiseChain chain;
  for (const Layer& layer : Network::parse(text).layers) {
    if (const auto* scale = std::get_if<Scale>(&layer.value)) {
      chain.append(TwoSlopes{scale->by, scale->by});
    } else {
      chain.append(std::get<Activation>(layer.value));
    }
  }
  return chain;
}

double one_by_one(const std::string& text, double x) {
  for (const Layer& layer : Network::parse(text).layers) {
    const auto* scale = std::get_if<Scale>(&layer.value);
    x = scale != nullptr ? scale->by * x : evaluate(std::get<Activation>(layer.value), x);
  }
  return x;
}

/// The reduced chain is the same function.
TEST(PointwiseChain, IsTheComposition) {
  const std::vector<std::string> words{"relu",
                                       "abs",
                                       "identity",
                                       "leaky_relu(slope=0.3)",
                                       "leaky_relu(slope=-0.7)",
                                       "scale(by=-1)",
                                       "scale(by=2.5)",
                                       "scale(by=0)",
                                       "sigmoid",
                                       "tanh",
                                       "softplus",
                                       "gaussian",
                                       "monomial(degree=2)",
                                       "monomial(degree=3)",
                                       "rectified_monomial(degree=1)",
                                       "sin"};
  const Random random(11);
  std::uint64_t next = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::string text;
    for (std::uint64_t k = 1 + random.below(5, next++); k > 0; --k) {
      text += (text.empty() ? "" : " ") + words[random.below(words.size(), next++)];
    }
    const PointwiseChain chain = chain_of(text);
    for (const double x : {-2.3, -0.4, 0.0, 0.7, 1.9}) {
      const double expected = one_by_one(text, x);
      const double found = chain.empty() ? x : value_of(chain.reduced(), x);
      EXPECT_NEAR(found, expected, 1e-12 * (1 + std::abs(expected))) << text << " at " << x;
      EXPECT_TRUE(!chain.is_nonnegative() || expected >= 0) << text;
      const double mirrored = one_by_one(text, -x) + expected;
      EXPECT_TRUE(!chain.is_odd() || std::abs(mirrored) <= 1e-12 * (1 + std::abs(expected))) << text;
    }
  }
}

TEST(PointwiseChain, SimplifiesWhatIsSimple) {
  const auto slopes = [](const std::string& text) { return std::get<TwoSlopes>(chain_of(text).reduced().function); };
  EXPECT_EQ(slopes("relu relu"), (TwoSlopes{1, 0}));
  EXPECT_EQ(slopes("relu abs"), (TwoSlopes{1, 0}));
  EXPECT_EQ(slopes("abs relu"), (TwoSlopes{1, -1}));
  EXPECT_EQ(slopes("relu scale(by=3) relu"), (TwoSlopes{3, 0}));
  EXPECT_EQ(slopes("leaky_relu(slope=0.5) leaky_relu(slope=0.5)"), (TwoSlopes{1, 0.25}));
  EXPECT_EQ(slopes("relu scale(by=-1) relu"), (TwoSlopes{0, 0}));
  EXPECT_TRUE(chain_of("identity identity").empty());
  EXPECT_TRUE(chain_of("scale(by=2) scale(by=0.5)").empty());
  const auto sigmoid = chain_of("sigmoid relu abs scale(by=-2)").reduced();
  EXPECT_EQ(std::get<Activation>(sigmoid.function).phi, Phi::sigmoid);
  EXPECT_EQ(sigmoid.factor, -2);
}

/// Compares φ₂'(φ₁)·φ₁' with a finite difference.
TEST(PointwiseChain, HasTheDerivativeOfTheChainRule) {
  for (const std::string text :
       {"tanh gelu", "relu sigmoid", "sin exp tanh", "leaky_relu(slope=0.2) cos scale(by=3) erf"}) {
    const auto composed = compose(std::get<std::vector<Activation>>(chain_of(text).reduced().function));
    for (const double x : {-1.7, -0.3, 0.4, 2.2}) {
      double slope = 0;
      composed->slope({}, {&x, 1}, {&slope, 1});
      constexpr double h = 1e-5;
      EXPECT_NEAR(slope, (one_by_one(text, x + h) - one_by_one(text, x - h)) / (2 * h), 1e-8) << text << " at " << x;
    }
  }
}

}  // namespace
}  // namespace widelimit
