#include "tests/app/program.hpp"

#include <gtest/gtest.h>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words nth_words(const Words& more) {
  Words words{"nth",     "--train", "digits",  "--classes", "3,8",    "--limit", "40",
              "--split", "0.8",     "--scale", "unit",      "--json", "--width", "100"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(NthVerb, WritesAKernelWithItsErrors) {
  const Folder folder;
  const Finished done = folder.widelimit(nth_words({"--samples", "64", "--out", "nth.npz", "--report", "page.html"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  EXPECT_EQ(results["directions"], 64);
  EXPECT_EQ(results["arrays"]["kernel"]["shape"], (nlohmann::json{40, 40}));
  EXPECT_EQ(results["arrays"]["test_kernel_error"]["shape"][1], 40);
  EXPECT_GT(results["arrays"]["kernel_error"]["smallest"], 0.0);
  EXPECT_GT(results["relative_correction"], 0.0);
  ASSERT_FALSE(results["remarks"].empty());  // 64 directions are few, which is remarked
  EXPECT_NE(results["remarks"].back().get<std::string>().find("take more directions (--samples)"), std::string::npos);
}

TEST(NthVerb, WarnsOfKinks) {
  const Folder folder;
  const Finished done = folder.widelimit(nth_words({"--activation", "relu", "--samples", "64", "--out", "k.h5"}));
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.err.find("kink"), std::string::npos);
}

TEST(NthVerb, RefusesWhatItCannotDo) {
  const Folder folder;
  const auto status = [&](const Words& more) { return folder.widelimit(nth_words(more)).status; };
  EXPECT_EQ(status({"--out", "k.csv"}), 2);
  EXPECT_EQ(status({"--out", "k.npz", "--samples", "4"}), 2);
  EXPECT_EQ(status({"--out", "k.npz", "--activation", "sign"}), 2);
  EXPECT_EQ(status({"--out", "k.npz", "--activation", "nothing"}), 2);
  EXPECT_EQ(status({"--out", "k.npz", "--precision", "f32"}), 2);
  EXPECT_EQ(status({"--out", "k.npz", "--max-samples", "1000"}), 2);  // has an effect with --tolerance only
  EXPECT_EQ(status({"--out", "k.npz", "--memory", "10KB"}), 5);
  EXPECT_EQ(folder.widelimit({"nth", "--train", "digits", "--limit", "40", "--out", "k.npz"}).status, 3);
}

}  // namespace
}  // namespace widelimit::test
