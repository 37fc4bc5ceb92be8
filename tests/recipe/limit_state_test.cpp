#include "widelimit/recipe/limit_state.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/network/shape.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

/// Lowers a network on vectors, or on 4×4 images if it is spatial, and returns the reason for its rejection.
std::string refusal(const Network& network) {
  const Shape shape = is_spatial(network) ? Shape{4, 4, 2} : Shape{1, 1, 5};
  try {
    static_cast<void>(lower(network, shape, RecipeOutputs::both));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::usage) << error.what();
    return error.what();
  }
  return "";
}

struct Case {
  const char* network;
  Exactness exactness;
};

TEST(LimitState, WhatHasAFormula) {
  using enum Exactness;
  for (const auto& [text, expected] :
       std::vector<Case>{{"dense", closed_form},
                         {"dense relu relu dense", closed_form},
                         {"dense relu abs leaky_relu scale(by=-3) relu dense", closed_form},
                         {"identity dense identity relu identity dense", closed_form},
                         {"dense relu tanh dense", quadrature},
                         {"dense sigmoid relu dense", quadrature},
                         {"dense sin gelu dense", quadrature},
                         {"dense exp relu dense", closed_form},
                         {"dense erf layer_norm dense", closed_form},
                         {"dense monomial(degree=3) layer_norm dense", closed_form},
                         {"dense dropout(rate=0.5) layer_norm dense relu dense", closed_form},
                         {"dense dropout(rate=1) relu dense", closed_form},
                         {"dropout(rate=0.5) dense", closed_form},
                         {"avg_pool scale(by=2) flatten dense relu dense", closed_form},
                         {"conv avg_pool relu flatten dense", closed_form},
                         {"conv flatten relu dense", closed_form},
                         {"conv relu flatten abs dense", closed_form},
                         {"conv flatten layer_norm dense relu dense", closed_form},
                         {"conv relu global_avg_pool relu dense", closed_form},
                         {"conv relu avg_pool relu dropout(rate=0.9) abs conv relu flatten dense", closed_form},
                         {"conv sin global_sum_pool layer_norm dense", closed_form},
                         {"conv global_avg_pool flatten layer_norm relu dense", closed_form},
                         {"attention relu flatten dense", closed_form},
                         {"conv relu dropout(rate=0.5) attention relu flatten dense", closed_form},
                         {"dense residual{ relu dense } relu dense", closed_form},
                         {"dense residual{ dense relu } dense", closed_form},
                         {"dense residual{ relu dense | sin } dense", closed_form},
                         {"dense relu residual{ relu dense } dense", closed_form},
                         {"dense tanh residual{ gelu dense | sin } layer_norm dense", quadrature},
                         {"dense residual{ residual{ relu dense } dense | dense } relu dense", closed_form},
                         {"residual{ dense } dense", closed_form},
                         {"resnet:2", closed_form},
                         {"myrtle5", closed_form},
                         {"lantk_cnn8", closed_form},
                         {"cntk:3(readout=flatten)", closed_form},
                         {"conv tanh max_pool flatten dense", monte_carlo}}) {
    const Network network = Network::parse(text);
    EXPECT_EQ(exactness(network), expected) << text;
    if (expected != monte_carlo && std::string_view(text).find("myrtle") == std::string_view::npos) {
      EXPECT_EQ(refusal(network), "") << text;
    }
  }
}

TEST(LimitState, WhatIsRefusedSaysWhichLayerAndWhy) {
  for (const auto& [text, layer, reason] : std::vector<std::array<const char*, 3>>{
           {"relu dense", "layer 1 (relu)", "inputs"},
           {"scale(by=2) sigmoid dense", "layer 2 (sigmoid)", "inputs"},
           {"layer_norm dense", "layer 1 (layer_norm)", "inputs"},
           {"dense relu layer_norm dense", "layer 3 (layer_norm)", "mean"},
           {"dense sigmoid layer_norm dense", "layer 3 (layer_norm)", "mean"},
           {"dense tanh layer_norm relu dense", "layer 4 (relu)", "normalised"},
           {"dense dropout relu dense", "layer 3 (relu)", "dropout"},
           {"dense relu dropout tanh dense", "layer 4 (tanh)", "dropout"},
           {"dropout dense relu dense", "layer 3 (relu)", "variance is random"},
           {"dropout dense layer_norm dense", "layer 3 (layer_norm)", "variance is random"},
           {"conv relu avg_pool tanh flatten dense", "layer 4 (tanh)", "pooled"},
           {"conv tanh avg_pool relu flatten dense", "layer 4 (relu)", "pooled"},
           {"conv flatten layer_norm relu dense", "layer 4 (relu)", "normalised"},
           {"dense residual{ relu } dense", "layer 2 (residual)", "same weights"},
           {"dense residual{ scale(by=0.5) } dense", "layer 2 (residual)", "same weights"},
           {"dense residual{ residual{ dense } } dense", "layer 2 (residual)", "same weights"},
           {"dense residual{ relu | abs } dense", "layer 2 (residual)", "same weights"},
           {"dense relu residual{ dense relu } dense", "layer 3 (residual)", "means"},
           {"dense residual{ dense relu | dense sigmoid } dense", "layer 2 (residual)", "means"},
           {"residual{ dense relu } dense", "layer 1 (residual)", "means"},
           {"residual{ dense } relu dense", "layer 2 (relu)", "variance is random"},
           {"dense relu residual{ dense } relu dense", "layer 4 (relu)", "sum"},
           {"dense residual{ dense relu } tanh dense", "layer 3 (tanh)", "sum"},
           {"dense residual{ dense dropout relu dense } dense", "layer 2.branch.3 (relu)", "dropout"},
           {"conv relu max_pool flatten dense", "layer 3 (max_pool)", "maximum"}}) {
    SCOPED_TRACE(text);
    const Network network = Network::parse(text);
    const LimitFormula formula = limit_formula(network);
    EXPECT_EQ(formula.exactness, Exactness::monte_carlo);
    const std::string message = refusal(network);
    EXPECT_EQ(message.rfind(formula.obstacle, 0), 0U) << formula.obstacle;
    EXPECT_NE(message.find(layer), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    EXPECT_NE(message.find("Monte Carlo"), std::string::npos) << message;
  }
}

/// A chain before a fork continues in branches that begin with an activation; otherwise it is emitted once.
TEST(LimitState, ChainsGoOnInBranches) {
  const auto duals = [](const char* text) {
    Index count = 0;
    for (const Step& step : lower(Network::parse(text), {1, 1, 3}, RecipeOutputs::ntk).steps)
      count += step.op == Op::dual ? 1 : 0;
    return count;
  };
  EXPECT_EQ(duals("dense relu residual{ dense } dense"), 1);
  EXPECT_EQ(duals("dense relu residual{ tanh dense } dense"), 2);
  EXPECT_EQ(duals("dense sigmoid sigmoid scale(by=2) dense"), 1);
}

}  // namespace
}  // namespace widelimit
