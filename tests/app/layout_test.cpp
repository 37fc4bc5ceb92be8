#include "tests/app/program.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

/// Twelve samples of 3·4·4 values, channels first or last, with the class in the last column.
std::string table(bool channels_first) {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 48; ++k) {
      const int channel = channels_first ? k / 16 : k % 3;
      const int position = channels_first ? k % 16 : k / 3;
      text += std::to_string((7 * i + 3 * channel + position * (1 + i % 2)) % 11) + ",";
    }
    text += i % 2 == 0 ? "a\n" : "b\n";
  }
  return text;
}

const Words network{"--network", "conv relu global_avg_pool dense"};

Words with(const Words& first, const Words& more) {
  Words words = first;
  words.insert(words.end(), network.begin(), network.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Layout, AConvolutionOfFlatSamplesNamesTheShape) {
  const Folder folder;
  folder.write("flat.csv", table(false));
  const std::vector<Words> verbs{{"kernel", "--out", "k.npz"},
                                 {"fit", "--out", "m.h5"},
                                 {"tune"},
                                 {"train", "--steps", "1", "--width", "4"},
                                 {"equivalence", "--widths", "4", "--steps", "1"},
                                 {"flow", "--until", "1"},
                                 {"bound"}};
  for (const Words& verb : verbs) {
    const Finished run = folder.widelimit(with(verb, {"--train", "flat.csv"}));
    EXPECT_EQ(run.status, 3) << verb.front() << run.err;
    EXPECT_NE(run.err.find("perhaps 4x4x3 (--shape HxWxC)"), std::string::npos) << verb.front() << run.err;
  }
  EXPECT_EQ(folder.names(), Words{"flat.csv"});
}

TEST(Layout, ModelsRememberIt) {
  const Folder folder;
  folder.write("last.csv", table(false));
  folder.write("first.csv", table(true));
  const auto scores = [&](const std::string& model, const std::string& data) {
    const Finished run = folder.widelimit({"predict", "--model", model, "--test", data, "--json"});
    EXPECT_EQ(run.status, 0) << run.err;
    return run.record()["results"]["scores"];
  };
  const Words shape{"--shape", "4x4x3"};
  for (const Words& verb :
       {Words{"fit", "--out", "last.h5"}, Words{"train", "--steps", "3", "--width", "4", "--out", "last.h5"}}) {
    Words other = verb;
    other.back() = "first.h5";
    ASSERT_EQ(folder.widelimit(with(verb, {"--train", "last.csv", "--shape", "4x4x3", "-q"})).status, 0);
    ASSERT_EQ(
        folder.widelimit(with(other, {"--train", "first.csv", "--shape", "4x4x3", "--channels-first", "-q"})).status,
        0);
    const auto expected = scores("last.h5", "last.csv");
    ASSERT_FALSE(expected.is_null());
    EXPECT_EQ(scores("first.h5", "first.csv"), expected);
    EXPECT_NE(scores("last.h5", "first.csv"), expected);
  }
}

TEST(Layout, WarnsOfImagesThatLookTransposed) {
  const Folder folder;
  // An image of three rows: a .npy of shape 2 × 3 × 8 × 8, all zeros.
  const std::string values(2 * 3 * 8 * 8, '\0');
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 8, 8), }";
  header.resize(127 - 10, ' ');
  header += '\n';
  const auto size = static_cast<char>(header.size());
  folder.write("x.npy", std::string("\x93NUMPY\x01") + '\0' + size + '\0' + header + values);
  const auto run = [&](const Words& more) {
    return folder.widelimit(with({"kernel", "--out", "k.npz", "--train", "x.npy"}, more));
  };
  const Finished ambiguous = run({});
  EXPECT_EQ(ambiguous.status, 0) << ambiguous.err;
  EXPECT_NE(ambiguous.err.find("8x8x3 whose channels come first (--channels-first)"), std::string::npos)
      << ambiguous.err;
  const Finished declared = run({"--channels-first"});
  EXPECT_EQ(declared.status, 0) << declared.err;
  EXPECT_EQ(declared.err.find("warning"), std::string::npos) << declared.err;
  const Finished wrong = run({"--shape", "8x8x3"});
  EXPECT_EQ(wrong.status, 3) << wrong.err;
  EXPECT_NE(wrong.err.find("(--channels-first)"), std::string::npos) << wrong.err;
  EXPECT_EQ(run({"--shape", "8xx3"}).status, 2);
}

}  // namespace
}  // namespace widelimit::test
