#include "widelimit/base/error.hpp"
#include "widelimit/network/network.hpp"

#include "refusal.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace widelimit {
namespace {

Network net(std::string_view text) { return Network::parse(text); }
std::string canonical(std::string_view text) { return net(text).to_text(); }

std::string error(std::string_view text) {
  try {
    const Network network = net(text);
    ADD_FAILURE() << "no error in: " << text.substr(0, 200);
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), Code::input);
    return problem.what();
  }
  return {};
}

TEST(Text, LayersInOrder) {
  const Network network = net("dense(w_std=1.4142, b_std=0.1) relu dense");
  EXPECT_EQ(network, (Network{{Dense{1.4142, 0.1}, Activation{}, Dense{}}}));
  EXPECT_EQ(network.to_text(), "dense(w_std=1.4142, b_std=0.1) relu dense");
}

TEST(Text, BlanksMeanNothing) {
  EXPECT_EQ(canonical(" \n dense ( w_std = 2 ,b_std= 0 )\trelu()\r\ndense\n"), "dense(w_std=2) relu dense");
  EXPECT_EQ(canonical("residual{dense|dense}"), "residual{ dense | dense }");
}

TEST(Text, Repeat) {
  EXPECT_EQ(canonical("repeat(3){ dense relu } dense"), "dense relu dense relu dense relu dense");
  EXPECT_EQ(canonical("repeat(2){ repeat(2){ sin } cos }"), "sin sin cos sin sin cos");
}

TEST(Text, ResidualAndArguments) {
  const Network network = net("residual{ conv relu conv | conv(kernel=1) }");
  EXPECT_EQ(network, (Network{{Residual{{Conv{}, Activation{}, Conv{}}, Layers{Conv{.kernel = {1, 1}}}}}}));
  EXPECT_EQ(network.to_text(), "residual{ conv relu conv | conv(kernel=1x1) }");
  EXPECT_EQ(canonical("residual{ residual{ dense } relu }"), "residual{ residual{ dense } relu }");
}

TEST(Text, EveryTypeOfValue) {
  EXPECT_EQ(canonical("conv(kernel=3X1, strides=2, padding=valid)"), "conv(kernel=3x1, strides=2x2, padding=VALID)");
  EXPECT_EQ(canonical("polynomial(coef=[ 0.1, 0.5 ,-2e-3])"), "polynomial(coef=[0.1,0.5,-0.002])");
  EXPECT_EQ(canonical("custom(name=my_phi2)"), "custom(name=my_phi2)");
  EXPECT_EQ(canonical("dropout(rate=1) hermite(degree=0)"), "dropout(rate=1) hermite(degree=0)");
  EXPECT_EQ(canonical("dense(w_std=0.1000000000000000055)"), "dense(w_std=0.1)");
}

TEST(Text, FrozenLayers) {
  const Network network =
      net("dense(frozen=true) relu conv(frozen=True, w_std=2) attention(frozen=TRUE) dense(frozen=false)");
  EXPECT_EQ(network, (Network{{Dense{.frozen = true}, Activation{}, Conv{.w_std = 2, .frozen = true},
                               Attention{.frozen = true}, Dense{}}}));
  EXPECT_EQ(network.to_text(), "dense(frozen=true) relu conv(w_std=2, frozen=true) attention(frozen=true) dense");
  EXPECT_NE(net("dense(frozen=true)"), net("dense"));
  EXPECT_NE(hash_value(net("dense(frozen=true)")), hash_value(net("dense")));
  EXPECT_TRUE(has_trained_layer(network.layers));
  EXPECT_TRUE(has_trained_layer(net("dense(frozen=true) residual{ relu conv | conv(frozen=true) }").layers));
  EXPECT_TRUE(has_trained_layer(net("dense(frozen=true) residual{ residual{ dense(frozen=true) | dense } }").layers));
  EXPECT_FALSE(has_trained_layer(net("dense(frozen=true) residual{ relu conv(frozen=true) } relu").layers));
  EXPECT_FALSE(has_trained_layer(net("relu flatten attention(frozen=true)").layers));
}

TEST(Text, DefaultsAreLeftOut) {
  EXPECT_EQ(canonical("conv(kernel=3, strides=1x1, padding=SAME, w_std=1.0, b_std=0)"), "conv");
  EXPECT_EQ(canonical("leaky_relu(slope=0.01) rbf(gamma=1) monomial(degree=2)"), "leaky_relu rbf monomial");
}

TEST(Text, PoolStridesFollowTheWindow) {
  EXPECT_EQ(net("avg_pool(window=3x2)"), (Network{{Pool{Pooling::average, {3, 2}, {3, 2}}}}));
  EXPECT_EQ(canonical("sum_pool(window=3, strides=3)"), "sum_pool(window=3x3)");
  EXPECT_EQ(canonical("max_pool(window=3, strides=2)"), "max_pool(window=3x3, strides=2x2)");
}

TEST(TextError, UnknownLayerIsPlacedAndGuessed) {
  expect_error("dense rellu dense", {"character 7", "'rellu'", "did you mean 'relu'?"});
  expect_error("dens", {"character 1", "did you mean 'dense'?"});
  expect_error("Dense", {"did you mean 'dense'?"});
  expect_error("dense\n  xyzzyx", {"line 2, character 3", "'xyzzyx'", "global_avg_pool", "cntk"});
  expect_error("residual{ dense | rel }", {"character 19", "did you mean 'relu'?"});
}

TEST(TextError, PositionCountsCharactersNotBytes) { expect_error("dense é", {"character 7", "'é'"}); }

TEST(TextError, Arguments) {
  expect_error("dense(frozen=yes)", {"character 14", "frozen of 'dense' is 'yes'", "true or false"});
  expect_error("dense(frozen=1)", {"true or false"});
  expect_error("dense(frozen)", {"expected name=value"});
  expect_error("dense(froze=true)", {"'dense' has no argument 'froze'", "did you mean 'frozen'?"});
  expect_error("relu(frozen=true)", {"'relu' has no argument 'frozen'"});
  expect_error("dense(wstd=1)", {"character 7", "'dense'", "'wstd'", "w_std, b_std", "did you mean 'w_std'?"});
  expect_error("relu(slope=1)", {"character 6", "'relu'", "no arguments"});
  expect_error("dense(1.4)", {"character 7", "name=value", "w_std"});
  expect_error("dense(w_std=abc)", {"character 13", "'abc'", "a finite number >= 0"});
  expect_error("dense(w_std=)", {"character 13", "')'", "a finite number >= 0"});
  expect_error("dense(w_std=1, w_std=2)", {"character 16", "twice"});
  expect_error("dense(w_std=1,)", {"character 15", "name=value"});
  expect_error("dense(w_std=1", {"character 14", "')'", "the end"});
  expect_error("dense(w_std=1 b_std=2)", {"character 15", "','"});
  expect_error("residual(branch=dense){ dense }", {"character 10", "braces"});
}

TEST(TextError, Ranges) {
  expect_error("dense(w_std=-1)", {"w_std of 'dense'", "'-1'", ">= 0"});
  expect_error("dense(b_std=inf)", {"'inf'", "finite"});
  expect_error("dense(w_std=nan)", {"'nan'"});
  expect_error("dense(w_std=1e999)", {"'1e999'"});
  expect_error("conv(kernel=0)", {"'0'", ">= 1 and <= 4095"});
  expect_error("conv(kernel=3x)", {"'3x'", "3x3"});
  expect_error("conv(kernel=3x3x3)", {"'3x3x3'"});
  expect_error("conv(strides=4096)", {"'4096'"});
  expect_error("conv(padding=full)", {"'full'", "SAME, VALID or CIRCULAR"});
  expect_error("dropout(rate=0)", {"> 0 and <= 1"});
  expect_error("dropout(rate=1.5)", {"> 0 and <= 1"});
  expect_error("monomial(degree=33)", {"<= 32"});
  expect_error("monomial(degree=1.5)", {"whole number"});
  expect_error("rectified_monomial(degree=9)", {"<= 8"});
  expect_error("hermite(degree=-1)", {">= 0"});
  expect_error("rbf(gamma=0)", {"> 0"});
  expect_error("polynomial(coef=[])", {"1 to 33"});
  expect_error("polynomial(coef=[1,])", {"'[1,]'"});
  expect_error("polynomial(coef=[1", {"'[1'"});
  expect_error("polynomial", {"character 1", "'polynomial' needs coef"});
  expect_error("custom", {"'custom' needs name"});
  expect_error("custom(name=a-b)", {"'a-b'", "letters, digits"});
}

TEST(TextError, Structure) {
  expect_error("", {"empty"});
  expect_error("  ", {"empty"});
  expect_error("residual", {"character 9", "'{'", "branch"});
  expect_error("residual{ }", {"character 11", "branch of 'residual' is empty"});
  expect_error("residual{ dense | }", {"shortcut of 'residual' is empty"});
  expect_error("residual{ dense | dense | dense }", {"character 25", "'}'"});
  expect_error("residual{ dense", {"character 16", "'}'", "the end"});
  expect_error("dense }", {"character 7", "'}'"});
  expect_error("dense | relu", {"character 7", "'|'"});
  expect_error("dense, relu", {"character 6", "','", "blanks"});
  expect_error("repeat{ dense }", {"character 7", "repeat(3)"});
  expect_error("repeat(0){ dense }", {"character 8", "'0'"});
  expect_error("repeat(2){ }", {"empty"});
  expect_error("repeat(2) dense", {"character 11", "'{'"});
  expect_error("relu{ dense }", {"character 5"});
}

TEST(TextError, HostileTextIsRefusedEarly) {
  expect_error("repeat(100000){ repeat(100000){ repeat(100000){ dense } } }", {"more than 100000 layers"});
  expect_error("repeat(99999999999999999999){ dense }", {"character 8"});
  expect_error("repeat(100000){ fc:10000 }", {"more than 100000 layers"});
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "residual{";
  expect_error(deep, {"nested deeper than 64"});
  expect_error(std::string(1'000'000, 'x'), {"unknown layer"});
  expect_error(std::string((std::size_t{16} << 20) + 1, ' '), {"16 MiB"});
  for (int c = 1; c < 256; ++c) EXPECT_FALSE(error("dense(w" + std::string(1, static_cast<char>(c))).empty());
  EXPECT_FALSE(error(std::string("dense\0relu", 10)).empty());
}

TEST(TextError, EveryPrefixAndEveryByteEndsInAnErrorOrANetwork) {
  const std::string text =
      "repeat(2){ dense(w_std=1.5) } residual{ conv(kernel=3x1) | polynomial(coef=[1,2]) } fc:3(b_std=1)";
  const auto read = [](const std::string& candidate) {
    try {
      EXPECT_FALSE(net(candidate).layers.empty());
    } catch (const Error&) {
    }
  };
  for (std::size_t i = 0; i <= text.size(); ++i) read(text.substr(0, i));
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char c : std::string_view("(){}[]|=,:x9-. \n\xff")) {
      std::string damaged = text;
      damaged[i] = c;
      read(damaged);
    }
  }
}

class TextFile : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / ("widelimit_text_test_" + name);
    std::ofstream(path, std::ios::binary) << content;
    paths_.push_back(path);
    return path.string();
  }
  void TearDown() override {
    for (const auto& path : paths_) std::filesystem::remove(path);
  }

 private:
  std::vector<std::filesystem::path> paths_;
};

TEST_F(TextFile, HoldsTextPresetOrJson) {
  EXPECT_EQ(net(write("a.txt", "dense\nrelu\ndense\n")), net("fc:1"));
  EXPECT_EQ(net(write("b.txt", "fc:2")), net("fc:2"));
  EXPECT_EQ(net(write("c.json", " [[\"dense\"], [\"relu\", {}], [\"dense\"]]\n")), net("fc:1"));
}

TEST_F(TextFile, ProblemsNameTheFile) {
  const std::string damaged = write("d.txt", "dense\nrellu");
  expect_error(damaged, {damaged, "line 2, character 1", "relu"});
  expect_error(write("e.json", "[[\"dense\""), {"e.json", "damaged"});
  expect_error(write("f.txt", ""), {"f.txt", "empty"});
  expect_error("no_such_network.json", {"no_such_network.json", "does not exist"});
  expect_error(write("g.txt", std::string((std::size_t{16} << 20) + 5, ' ')), {"16 MiB"});
}

}  // namespace
}  // namespace widelimit
