#include "widelimit/network/presets.hpp"

#include "tests/paths.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/network/network.hpp"
#include "widelimit/network/shape.hpp"

#include "refusal.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace widelimit {
namespace {

Network network_of(std::string_view text) { return Network::parse(text); }

Index convolutions(const Network& network) {
  return std::count_if(network.layers.begin(), network.layers.end(),
                       [](const Layer& layer) { return std::holds_alternative<Conv>(layer.value); });
}

TEST(Presets, FullyConnected) {
  EXPECT_EQ(network_of("fc:3"), network_of("repeat(3){ dense relu } dense"));
  EXPECT_EQ(network_of("fc:0"), network_of("dense"));
  EXPECT_EQ(network_of("fc:2(w_std=1.4142, b_std=0.1, activation=erf)"),
            network_of("repeat(2){ dense(w_std=1.4142, b_std=0.1) erf } dense(w_std=1.4142, b_std=0.1)"));
  EXPECT_EQ(network_of("eq2"), network_of("dense relu dense"));
}

TEST(Presets, FreezeTheirFirstLayers) {
  EXPECT_EQ(network_of("fc:2(frozen=0)"), network_of("fc:2"));
  EXPECT_EQ(network_of("fc:2(frozen=1, w_std=2)"),
            network_of("dense(w_std=2, frozen=true) relu dense(w_std=2) relu dense(w_std=2)"));
  EXPECT_EQ(network_of("fc:0(frozen=1)"), network_of("dense(frozen=true)"));
  EXPECT_FALSE(has_trained_layer(network_of("fc:3(frozen=4)").layers));
  expect_error("fc:3(frozen=5)", {"'fc:3' has 4 weight layers", "first 5"});
  expect_error("fc:3(frozen=-1)", {"'-1'", "whole number >= 0"});
}

TEST(Presets, Convolutional) {
  EXPECT_EQ(network_of("cntk:2"), network_of("repeat(2){ conv(w_std=1.4142135623730951) relu } global_avg_pool "
                                             "dense(w_std=1.4142135623730951)"));
  EXPECT_EQ(network_of("cntk:1(readout=flatten, w_std=1, kernel=5x3, activation=gelu)"),
            network_of("conv(kernel=5x3) gelu flatten dense"));
}

TEST(Presets, ConvolutionalFreezesItsEnds) {
  EXPECT_EQ(network_of("cntk:3(w_std=1, frozen_ends=true)"),
            network_of("conv(frozen=true) relu conv relu conv relu global_avg_pool dense(frozen=true)"));
  EXPECT_EQ(network_of("cntk:2(frozen_ends=false)"), network_of("cntk:2"));
  EXPECT_FALSE(has_trained_layer(network_of("cntk:1(frozen_ends=true)").layers));
  expect_error("cntk:3(frozen_ends=1)", {"'1'", "true, false"});
}

TEST(Presets, LenetReadsAGridOfFive) {
  EXPECT_EQ(
      network_of("lenet5(w_std=1)"),
      network_of("repeat(2){ conv(kernel=5, padding=valid) relu avg_pool } flatten repeat(2){ dense relu } dense"));
  const auto shapes = infer_shapes(network_of("lenet5"), {32, 32, 3});
  EXPECT_EQ(shapes[5].height, 5);  // after the second pooling
  EXPECT_EQ(shapes[5].width, 5);
  EXPECT_EQ(network_of("lenet5(activation=erf)").layers[1], network_of("erf").layers[0]);
}

TEST(Presets, MyrtleBringsAnImageToOnePosition) {
  for (const auto& [name, count] : {std::pair<std::string, Index>{"myrtle5", 4}, {"myrtle7", 6}, {"myrtle10", 9}}) {
    EXPECT_EQ(convolutions(network_of(name)), count);  // plus the dense layer, the number in the name
    const auto shapes = infer_shapes(network_of(name), {32, 32, 3});
    EXPECT_EQ(shapes[shapes.size() - 3].height, 1);
    EXPECT_THROW((void)infer_shapes(network_of(name), {16, 16, 3}), Error);
  }
  EXPECT_EQ(
      network_of("myrtle5(w_std=1)"),
      network_of("conv relu conv relu avg_pool conv relu avg_pool conv relu repeat(3){ avg_pool } flatten dense"));
}

TEST(Presets, LabelAwareEqualsTheReference) {
  std::ifstream stream(test::golden_file("open_image.json"));
  const auto cases = nlohmann::json::parse(stream);
  EXPECT_EQ(network_of("lantk_cnn8"), Network::from_json(cases.at("lantk_cnn8")));
}

TEST(Presets, GraphNetwork) {
  EXPECT_EQ(network_of("gntk:3(mlp=1, scale=uniform, jk=false, w_std=1)"),
            network_of("repeat(2){ aggregate(scale=uniform) dense relu } global_sum_pool dense"));
  EXPECT_EQ(network_of("gntk:3(mlp=2, w_std=1)"),
            network_of("residual{ global_sum_pool dense | aggregate repeat(2){ dense relu } residual{ global_sum_pool "
                       "dense | aggregate repeat(2){ dense relu } global_sum_pool dense } }"));
  EXPECT_EQ(network_of("gntk:2"), network_of("gntk:2(mlp=2, scale=degree, jk=true, w_std=1.4142135623730951)"));
  EXPECT_EQ(infer_shapes(network_of("gntk:64"), {1, 1, 7, true}).back().nodes, false);
  EXPECT_THROW((void)network_of("gntk:1"), Error);
  EXPECT_THROW((void)network_of("gntk:4(scale=none)"), Error);
  EXPECT_THROW((void)network_of("gntk:4(jk=maybe)"), Error);
}

TEST(Presets, AggregationIsWrittenAndRead) {
  const Network network = network_of("aggregate dense relu aggregate(scale=uniform) dense relu global_avg_pool dense");
  EXPECT_EQ(network.to_text(), "aggregate dense relu aggregate(scale=uniform) dense relu global_avg_pool dense");
  EXPECT_EQ(Network::from_json(network.to_json()), network);
  EXPECT_EQ(network.to_json()[3].dump(), R"(["aggregate",{"scale":"uniform"}])");
  const auto shapes = infer_shapes(network, parse_shape("nodesx3"));
  EXPECT_TRUE(shapes.front().nodes);
  EXPECT_FALSE(shapes.back().nodes);
  EXPECT_TRUE(reads_graphs(network));
  EXPECT_FALSE(reads_graphs(network_of("fc:1")));
}

TEST(Presets, Residual) {
  EXPECT_EQ(network_of("resnet:2(w_std=1)"),
            network_of("conv "
                       "residual{ relu conv relu conv | conv } residual{ relu conv relu conv } "
                       "residual{ relu conv(strides=2) relu conv | conv(strides=2) } residual{ relu conv relu conv } "
                       "residual{ relu conv(strides=2) relu conv | conv(strides=2) } residual{ relu conv relu conv } "
                       "global_avg_pool dense"));
  EXPECT_NO_THROW((void)infer_shapes(network_of("resnet:1"), {32, 32, 3}));
}

TEST(Presets, AreElementsOfText) {
  EXPECT_EQ(network_of("repeat(2){ fc:1 } residual{ fc:1(w_std=2) | eq2 }relu"),
            network_of("dense relu dense dense relu dense "
                       "residual{ dense(w_std=2) relu dense(w_std=2) | dense relu dense } relu"));
}

TEST(Presets, AllAreListedAndValidAtTheirDefaults) {
  for (const Preset& preset : list_presets()) {
    SCOPED_TRACE(std::string(preset.name));
    EXPECT_FALSE(preset.description.empty());
    EXPECT_EQ(find_preset(preset.name), &preset);
    std::string text = preset.usage();
    if (const auto depth = text.find(":N"); depth != std::string::npos) text.replace(depth, 2, ":3");
    EXPECT_EQ(preset.depth.has_value(), text.find(":3") != std::string::npos);
    const Network network = network_of(text);
    EXPECT_NO_THROW(validate(network));
    EXPECT_NO_THROW((void)infer_shapes(network, reads_graphs(network) ? Shape{1, 1, 1, true} : Shape{32, 32, 3}));
    EXPECT_EQ(network, network_of(std::string(preset.name) + (preset.depth ? ":3" : "")));
  }
  EXPECT_EQ(find_preset("fc")->usage(), "fc:N(w_std=1, b_std=0, activation=relu, frozen=0)");
}

TEST(PresetsError, NameWhatIsWrong) {
  expect_error("fc", {"character 3", "'fc' needs a depth", "fc:3"});
  expect_error("fc:", {"character 3", "'fc' needs a depth", "fc:3"});
  expect_error("fc:(w_std=1)", {"character 3", "'fc' needs a depth", "fc:3"});
  expect_error("fc:x", {"character 4", "'x'", "whole number >= 0"});
  expect_error("fc:-1", {"'-1'"});
  expect_error("cntk:0", {"'0'", ">= 1"});
  expect_error("fc:100000000000", {"<= 10000"});
  expect_error("eq2:3", {"character 4", "'eq2' takes no depth"});
  expect_error("fc:3(wstd=1)", {"character 6", "'fc' has no argument 'wstd'", "did you mean 'w_std'?"});
  expect_error("fc:3(activation=rellu)", {"character 17", "'rellu'", "one of relu, leaky_relu"});
  expect_error("fc:3(activation=polynomial)", {"'polynomial'"});
  expect_error("cntk:3(readout=mean)", {"'mean'", "pool, flatten"});
  expect_error("lantk_cnn9", {"did you mean 'lantk_cnn8'?"});
}

}  // namespace
}  // namespace widelimit
