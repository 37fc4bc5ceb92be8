#include "random_network.hpp"

#include "tests/paths.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/network/forms.hpp"
#include "widelimit/network/shape.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <unordered_set>

namespace widelimit {
namespace {

nlohmann::json golden(const std::string& name) {
  std::ifstream stream(test::golden_file(name));
  return nlohmann::json::parse(stream);
}

TEST(RoundTrip, RandomNetworksThroughTextJsonAndHash) {
  std::set<std::string_view> visited;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Network network = test::RandomNetwork(seed).network();
    for (const Layer& layer : network.layers) visited.insert(form_of(layer).name);
    ASSERT_NO_THROW(validate(network)) << network.to_text();
    const std::string text = network.to_text();
    const Network from_text = Network::parse(text);
    ASSERT_EQ(from_text, network) << text;
    ASSERT_EQ(from_text.to_text(), text);
    const std::string json = network.to_json().dump();
    const Network from_json = Network::parse(json);
    ASSERT_EQ(from_json, network) << json;
    ASSERT_EQ(Network::from_json(network.to_json()), network);
    ASSERT_EQ(hash_value(from_text), hash_value(network));
    ASSERT_EQ(std::hash<Network>{}(from_json), hash_value(network));
  }
  EXPECT_EQ(visited.size(), forms().size()) << "every layer must occur among the random networks";
}

TEST(RoundTrip, HashTellsNetworksApart) {
  std::unordered_set<std::size_t> hashes;
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Network network = test::RandomNetwork(seed).network();
    texts.insert(network.to_text());
    hashes.insert(hash_value(network));
  }
  EXPECT_EQ(hashes.size(), texts.size());
}

TEST(RoundTrip, BothZerosAreOneNetwork) {
  const Network plus{{Activation{.phi = Phi::leaky_relu, .slope = 0.0, .coef = {}, .name = {}}}};
  const Network minus{{Activation{.phi = Phi::leaky_relu, .slope = -0.0, .coef = {}, .name = {}}}};
  EXPECT_EQ(plus, minus);
  EXPECT_EQ(hash_value(plus), hash_value(minus));
}

TEST(RoundTrip, ReferenceNetworks) {
  std::size_t count = 0;
  for (const auto& [file, input] : {std::pair<std::string, Shape>{"open_vector.json", {1, 1, 10}},
                                    std::pair<std::string, Shape>{"open_image.json", {8, 8, 3}}}) {
    const nlohmann::json cases = golden(file);
    for (const auto& item : cases.items()) {
      SCOPED_TRACE(item.key());
      const Network network = Network::from_json(item.value());
      EXPECT_EQ(Network::parse(network.to_text()), network);
      EXPECT_EQ(Network::from_json(network.to_json()), network);
      const auto shapes = infer_shapes(network, input);
      EXPECT_EQ(static_cast<Index>(shapes.size()), count_layers(network.layers));
      EXPECT_EQ(shapes.back().height * shapes.back().width, 1);
      ++count;
    }
  }
  EXPECT_EQ(count, 48U);
}

TEST(Forms, EveryLayerIsWrittenWithItsDefaultsLeftOut) {
  for (const Form& form : forms()) {
    const std::string text = to_text(form.prototype);
    EXPECT_EQ(text.substr(0, form.name.size()), form.name);
    EXPECT_EQ(find_form(form.name), &form);
    EXPECT_EQ(&form_of(form.prototype), &form);
  }
  EXPECT_EQ(find_form("nothing"), nullptr);
}

TEST(Validate, NetworksBuiltFromStructs) {
  EXPECT_THROW(validate({}), Error);
  EXPECT_THROW(validate({{Dense{.w_std = -1}}}), Error);
  EXPECT_THROW(validate({{Dense{.w_std = std::nan("")}}}), Error);
  EXPECT_THROW(validate({{Conv{.strides = {0, 1}}}}), Error);
  EXPECT_THROW(validate({{Dropout{0.0}}}), Error);
  EXPECT_THROW(validate({{Residual{}}}), Error);
  EXPECT_THROW(validate({{Residual{.branch = {Dense{}}, .shortcut = Layers{}}}}), Error);
  EXPECT_THROW(validate({{GlobalPool{Pooling::max}}}), Error);
  Activation relu;
  relu.slope = 0.3;  // unused by relu, so two equal functions would compare unequal
  EXPECT_THROW(validate({{relu}}), Error);
  EXPECT_NO_THROW(validate({{Dense{}, Activation{}, Residual{.branch = {Dense{}}, .shortcut = {}}}}));
  Layers deep{Dense{}};
  for (int i = 0; i < 65; ++i) deep = {Residual{.branch = deep, .shortcut = {}}};
  EXPECT_THROW(validate({deep}), Error);
}

}  // namespace
}  // namespace widelimit
