#include "tests/app/program.hpp"

#include "widelimit/report/drawing/gnuplot.hpp"

#include <gtest/gtest.h>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words equivalence_words(const Words& more) {
  Words words{"equivalence", "--network", "fc:1", "--train",  "digits", "--classes", "0,1", "--limit",
              "20",          "--scale",   "unit", "--lambda", "0.1",    "--steps",   "40",  "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(EquivalenceVerb, TellsDifferenceAndSlope) {
  const Folder folder;
  const Finished run = folder.widelimit(
      equivalence_words({"--widths", "32,128,512", "--seeds", "3", "--loss", "hinge", "--split", "0.8"}));
  ASSERT_EQ(run.status, 0) << run.err;
  const auto results = run.record()["results"];
  EXPECT_EQ(results["widths"], (std::vector<int>{32, 128, 512}));
  ASSERT_EQ(results["difference"].size(), 3U);
  EXPECT_GT(results["difference"][0], results["difference"][2]);
  ASSERT_EQ(results["slope_interval"].size(), 2U);
  EXPECT_LE(results["slope_interval"][0], results["slope"]);
  EXPECT_GE(results["slope_interval"][1], results["slope"]);
  EXPECT_LT(results["slope"], -0.2);
  EXPECT_EQ(results["runs"].size(), 9U);
  ASSERT_EQ(results["local_slopes"].size(), 2U);
  EXPECT_EQ(results["local_slopes"][1]["from"], 128);
  EXPECT_EQ(results["local_slopes"][1]["to"], 512);
  EXPECT_GT(results["local_slopes"][1]["error"], 0);
  EXPECT_TRUE(results["settled"].is_boolean());
  EXPECT_EQ(results["record"]["paths"].size(), 3U);
}

TEST(EquivalenceVerb, SplitsTheDifference) {
  const Folder folder;
  const Finished run = folder.widelimit(equivalence_words({"--widths", "16,64", "--seeds", "2", "--parts"}));
  ASSERT_EQ(run.status, 0) << run.err;
  const auto results = run.record()["results"];
  ASSERT_EQ(results["kernel_part"].size(), 2U);
  ASSERT_EQ(results["movement_part"].size(), 2U);
  EXPECT_TRUE(results["kernel_slope_interval"].is_array());
  for (const auto& one : results["runs"]) {
    EXPECT_LE(one["difference"], one["kernel_part"].get<double>() + one["movement_part"].get<double>());
  }
}

TEST(EquivalenceVerb, OneWidthHasNoSlopeAndSaysSo) {
  const Folder folder;
  const Finished run = folder.widelimit(equivalence_words({"--widths", "32", "--batch", "5", "--loss", "logistic"}));
  ASSERT_EQ(run.status, 0) << run.err;
  const auto results = run.record()["results"];
  EXPECT_TRUE(results["slope"].is_null());
  EXPECT_NE(results["note"].get<std::string>().find("two widths"), std::string::npos);
}

TEST(EquivalenceVerb, WritesAPage) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "gnuplot is not here";
  const Folder folder;
  const Finished run = folder.widelimit(equivalence_words({"--widths", "16,32", "--seeds", "2", "--report", "e.html"}));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(folder.names(), (Words{"e.html"}));
}

TEST(EquivalenceVerb, EndsWithTheStatusOfWhatWentWrong) {
  const Folder folder;
  const Finished diverged = folder.widelimit(equivalence_words({"--widths", "32", "--rate", "1e4"}));
  EXPECT_EQ(diverged.status, 4) << diverged.err;
  EXPECT_NE(diverged.err.find("width 32"), std::string::npos) << diverged.err;
  for (const Words& words :
       {Words{}, Words{"--widths", "0"}, Words{"--widths", "8,8"}, Words{"--widths", "8,x"},
        Words{"--widths", "8", "--seeds", "0"}, Words{"--widths", "8", "--machine-kernel", "own"},
        Words{"--widths", "8", "--parts", "--machine-kernel", "start"}, Words{"--widths", "8", "--batch", "100"}}) {
    EXPECT_EQ(folder.widelimit(equivalence_words(words)).status, 2);
  }
  EXPECT_EQ(folder.widelimit(equivalence_words({"--widths", "8", "--memory", "1KiB"})).status, 5);
}

TEST(EquivalenceVerb, TakesTenClasses) {
  const Folder folder;
  const Finished run = folder.widelimit({"equivalence", "--network", "fc:1", "--train", "digits", "--limit", "30",
                                         "--widths", "16,64", "--seeds", "2", "--steps", "10"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("Slope of log difference"), std::string::npos);
}

}  // namespace
}  // namespace widelimit::test
