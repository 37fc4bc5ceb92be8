#include "widelimit/base/error.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

std::string operations(const Recipe& recipe) {
  static const char* const names[] = {"affine",    "window",  "dual",   "pool", "flatten", "layer_norm", "dropout",
                                      "aggregate", "readout", "attend", "fork", "swap",    "join",       "emit"};
  std::string text;
  for (const Step& step : recipe.steps) text += std::string(text.empty() ? "" : " ") + names[static_cast<int>(step.op)];
  return text;
}

TEST(Lower, ResidualsBecomeForkSwapJoin) {
  const Recipe recipe =
      lower(Network::parse("dense residual{ relu dense | dense } dense"), {1, 1, 4}, RecipeOutputs::both);
  EXPECT_EQ(operations(recipe), "affine fork dual affine swap affine join affine emit");
  EXPECT_EQ(recipe.channels, 1);
  EXPECT_EQ(recipe.outputs, 2);
  EXPECT_TRUE(recipe.on_vectors());
}

TEST(Lower, FlattenNeedsEqualPositionsOnly) {
  const Recipe flat = lower(Network::parse("conv relu conv relu flatten dense"), {8, 8, 3}, RecipeOutputs::ntk);
  for (const Step& step : flat.steps) EXPECT_FALSE(step.all_pairs);
  const Recipe pooled =
      lower(Network::parse("conv relu avg_pool conv relu flatten dense"), {8, 8, 3}, RecipeOutputs::ntk);
  EXPECT_TRUE(pooled.all_pairs);
  EXPECT_TRUE(pooled.steps[3].all_pairs);         // the pool reads all pairs
  EXPECT_FALSE(pooled.steps[3].all_pairs_after);  // and produces what flatten needs
}

TEST(Lower, StridesFollowTheGrid) {
  const Recipe recipe =
      lower(Network::parse("conv(strides=2) relu conv(strides=2) flatten dense"), {7, 9, 1}, RecipeOutputs::nngp);
  EXPECT_EQ(recipe.steps[0].after, (Grid{4, 5}));
  EXPECT_EQ(recipe.steps[3].after, (Grid{2, 3}));
}

TEST(Lower, PerLayerAndSweepChannels) {
  const Recipe layers = lower(Network::parse("fc:3"), {1, 1, 5}, RecipeOutputs::per_layer);
  EXPECT_EQ(layers.outputs, 4);
  EXPECT_EQ(layers.weight_layers.size(), 4U);
  const Recipe sweep = lower(Network::parse("fc:3"), {1, 1, 5}, RecipeOutputs::sweep);
  EXPECT_EQ(sweep.outputs, 10);
}

TEST(Lower, SaysWhatItCannotDo) {
  const auto message = [](const std::string& text, const Shape& shape, RecipeOutputs requested) -> std::string {
    try {
      static_cast<void>(lower(Network::parse(text), shape, requested));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), requested == RecipeOutputs::sweep ? Code::input : Code::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("conv relu max_pool flatten dense", {8, 8, 1}, RecipeOutputs::ntk).find("max_pool"),
            std::string::npos);
  EXPECT_NE(message("conv relu flatten dense", {8, 8, 1}, RecipeOutputs::sweep).find("sweep"), std::string::npos);
  EXPECT_NE(message("dense relu", {1, 1, 3}, RecipeOutputs::sweep).find("sweep"), std::string::npos);
}

TEST(Exactness, FollowsTheWorstLayer) {
  EXPECT_EQ(exactness(Network::parse("fc:3")), Exactness::closed_form);
  EXPECT_EQ(exactness(Network::parse("dense residual{ tanh dense } dense")), Exactness::quadrature);
  EXPECT_EQ(exactness(Network::parse("conv tanh max_pool flatten dense")), Exactness::monte_carlo);
}

}  // namespace
}  // namespace widelimit
