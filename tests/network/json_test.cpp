#include "widelimit/base/error.hpp"
#include "widelimit/network/network.hpp"

#include "refusal.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace widelimit {
namespace {

TEST(Json, ListFormIsRead) {
  EXPECT_EQ(Network::parse(R"([["dense", {"w_std": 2, "b_std": 0}], ["relu"], ["relu", {}], ["dense"]])"),
            (Network{{Dense{.w_std = 2}, Activation{}, Activation{}, Dense{}}}));
  EXPECT_EQ(Network::parse(R"([["conv", {"kernel": 5, "strides": [2, 1], "padding": "circular"}]])"),
            (Network{{Conv{.kernel = {5, 5}, .strides = {2, 1}, .padding = Padding::circular}}}));
  EXPECT_EQ(Network::parse(R"([["avg_pool", {"window": [3, 2]}]])"),
            (Network{{Pool{.window = {3, 2}, .strides = {3, 2}}}}));
  EXPECT_EQ(Network::parse(R"([["residual", {"branch": [["dense"]], "shortcut": [["dense", {"w_std": 0.5}]]}]])"),
            Network::parse("residual{ dense | dense(w_std=0.5) }"));
}

TEST(Json, FrozenLayers) {
  const Network network = Network::parse(
      R"([["dense", {"frozen": true}], ["relu"], ["conv", {"frozen": true}], ["attention", {"frozen": true}],)"
      R"( ["dense", {"frozen": false}]])");
  EXPECT_EQ(network, Network::parse("dense(frozen=true) relu conv(frozen=true) attention(frozen=true) dense"));
  EXPECT_EQ(network.to_json().dump(),
            R"([["dense",{"frozen":true}],["relu"],["conv",{"frozen":true}],["attention",{"frozen":true}],["dense"]])");
}

TEST(Json, IsWrittenWithoutDefaults) {
  const Network network = Network::parse("conv(strides=2) polynomial(coef=[1,2.5]) residual{ dense } custom(name=f)");
  EXPECT_EQ(network.to_json().dump(),
            R"([["conv",{"strides":[2,2]}],["polynomial",{"coef":[1.0,2.5]}],["residual",{"branch":[["dense"]]}],)"
            R"(["custom",{"name":"f"}]])");
}

TEST(JsonError, NamesLayerPlaceAndWhatIsAccepted) {
  expect_error(R"([["dense"], ["rellu"]])", {"layer 2", "\"rellu\"", "did you mean 'relu'?"});
  expect_error(R"([["dense"], ["rleu"]])", {"did you mean 'relu'?"});
  expect_error(R"([["dense"], ["residual", {"branch": [["relu"], ["dense", {"w_std": "x"}]]}]])",
               {"layer 2.branch.2", "w_std of 'dense'", "\"x\"", "a finite number >= 0"});
  expect_error(R"([["dense", {"wstd": 1}]])", {"layer 1", "'dense'", "\"wstd\"", "w_std, b_std", "did you mean"});
  expect_error(R"([["relu", {"slope": 1}]])", {"no arguments"});
  expect_error(R"([["residual", {"shortcut": [["dense"]]}]])", {"'residual' needs \"branch\""});
  expect_error(R"([["residual", {"branch": []}]])", {"branch of 'residual'", "at least one layer"});
  expect_error(R"([["residual", {"branch": "dense"}]])", {"\"dense\"", "list of at least one layer"});
  expect_error(R"([["residual", {"branch": [["dense"]], "shortcut": []}]])", {"shortcut"});
  expect_error(R"([["custom"]])", {"needs \"name\""});
}

TEST(JsonError, TypesAndRanges) {
  expect_error(R"([["dense", {"frozen": 1}]])", {"frozen of 'dense'", "true or false"});
  expect_error(R"([["dense", {"frozen": "true"}]])", {"true or false"});
  expect_error(R"([["dense", {"w_std": null}]])", {"null"});
  expect_error(R"([["dense", {"w_std": true}]])", {"true"});
  expect_error(R"([["dense", {"w_std": -0.5}]])", {"-0.5", ">= 0"});
  expect_error(R"([["conv", {"kernel": [3]}]])", {"[3]", "3x3"});
  expect_error(R"([["conv", {"kernel": [3, 0]}]])", {"[3,0]"});
  expect_error(R"([["conv", {"kernel": [3, 1.5]}]])", {"[3,1.5]"});
  expect_error(R"([["conv", {"kernel": 18446744073709551615}]])", {"kernel"});
  expect_error(R"([["conv", {"padding": 1}]])", {"SAME, VALID or CIRCULAR"});
  expect_error(R"([["monomial", {"degree": 2.0}]])", {"whole number"});
  expect_error(R"([["polynomial", {"coef": [1, "a"]}]])", {"coef"});
  expect_error(R"([["polynomial", {"coef": 1}]])", {"finite numbers"});
  expect_error(R"([["custom", {"name": "a b"}]])", {"letters, digits"});
  nlohmann::json not_a_number = nlohmann::json::parse(R"([["dense", {"w_std": 1}]])");
  not_a_number[0][1]["w_std"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)Network::from_json(not_a_number), Error);
}

TEST(JsonError, Structure) {
  expect_error("[]", {"empty"});
  expect_error("[", {"damaged at character"});
  expect_error("[\"dense\"]", {"layer 1", "[\"name\"]", "\"dense\""});
  expect_error("[[]]", {"layer 1"});
  expect_error("[[1]]", {"layer 1"});
  expect_error("[[\"dense\", 1]]", {"layer 1", "arguments"});
  expect_error("[[\"dense\", {}, {}]]", {"layer 1"});
  expect_error("[[\"dense\", {\"w_std\": 1e999}]]", {"cannot be read"});
  EXPECT_THROW((void)Network::from_json(nlohmann::json::parse("{\"a\": 1}")), Error);
  EXPECT_THROW((void)Network::from_json(nlohmann::json()), Error);
}

TEST(JsonError, HostileTextIsRefusedEarly) {
  expect_error(std::string(1'000'000, '['), {"nested deeper"});
  std::string many = "[[\"relu\"]";
  for (int i = 0; i < 100'000; ++i) many += ",[\"relu\"]";
  expect_error(many + "]", {"more than 100000 layers"});
  std::string deep = "[[\"dense\"]]";
  for (int i = 0; i < 65; ++i) deep = "[[\"residual\",{\"branch\":" + deep + "}]]";
  expect_error(deep, {"nested deeper than 64"});
  expect_error("[[\"" + std::string(100'000, 'x') + "\"]]", {"unknown layer"});
  expect_error("[[\"\xff\xfe\"]]", {"damaged"});
}

TEST(Json, NestingUpToTheLimitIsRead) {
  std::string deep = "[[\"dense\"]]";
  for (int i = 0; i < 64; ++i) deep = "[[\"residual\",{\"branch\":" + deep + "}]]";
  const Network network = Network::parse(deep);
  EXPECT_EQ(Network::parse(network.to_text()), network);
  EXPECT_NO_THROW(validate(network));
}

}  // namespace
}  // namespace widelimit
