#include "tests/app/program.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words flow_words(const Words& more) {
  Words words{"flow", "--network",     "fc:2", "--train", "digits", "--classes", "3,8", "--limit", "60", "--split",
              "0.7",  "--split-order", "file", "--scale", "unit",   "--lambda",  "0.1", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class FlowVerb : public testing::TestWithParam<const char*> {};

TEST_P(FlowVerb, FollowsEveryLossAndChecksItsRate) {
  const Folder folder;
  const Finished done = folder.widelimit(flow_words({"--loss", GetParam(), "--times", "0,1,10,inf"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  ASSERT_EQ(results["times"].size(), 4U);
  EXPECT_EQ(results["times"][3], "inf");
  EXPECT_EQ(results["rate"]["holds"], true);
  EXPECT_LE(results["rate"]["largest_ratio"], 1.0 + 1e-6);
  EXPECT_LT(results["objective"][3], results["objective"][0]);
  EXPECT_GT(results["train_accuracy"][3], 0.9);
  EXPECT_EQ(results["test_accuracy"].size(), 4U);
  EXPECT_EQ(results["summary"]["ending"], "converged");
  EXPECT_TRUE(folder.names().empty());
}

INSTANTIATE_TEST_SUITE_P(Losses, FlowVerb,
                         testing::Values("squared", "hinge", "squared-hinge", "insensitive", "logistic", "softmax"));

TEST(Flow, WritesItsTrajectoryAndAPage) {
  const Folder folder;
  for (const std::string out : {"t.csv", "t.npz", "t.h5"}) {
    const Finished done = folder.widelimit(
        flow_words({"--until", "5", "--points", "6", "--record", "4,2", "--out", out, "--report", "page.html"}));
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.record()["results"]["file"], out);
    EXPECT_FALSE(done.record()["results"].contains("train_accuracy"));  // scores need all samples
  }
  EXPECT_EQ(folder.names(), (Words{"page.html", "t.csv", "t.h5", "t.npz"}));
  std::ifstream file(folder.path("t.csv"));
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line.substr(0, 41), "time,objective,loss,train_4,train_2,test_");
  int rows = 0;
  while (std::getline(file, line)) ++rows;
  EXPECT_EQ(rows, 6);
}

TEST(Flow, DescendsInStepsWithTheBatchesOfItsSeed) {
  const Folder folder;
  const Words steps{"--loss", "hinge", "--rate", "0.1", "--steps", "200", "--batch", "7", "--record-every", "50"};
  const auto run = [&](const std::string& seed) {
    Words words = flow_words(steps);
    words.insert(words.end(), {"--seed", seed});
    const Finished done = folder.widelimit(words);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.record()["results"];
  };
  const auto first = run("1");
  EXPECT_EQ(first["steps"], (nlohmann::json{0, 50, 100, 150, 200}));
  EXPECT_LT(first["recursion_error"], 1e-12);
  EXPECT_EQ(first["stable_step"], 20);
  EXPECT_EQ(first["objective"], run("1")["objective"]);
  EXPECT_NE(first["objective"], run("2")["objective"]);
}

TEST(Flow, TakesAKernelThatWasComputedBefore) {
  const Folder folder;
  const Words data{"--network", "fc:2", "--train", "digits", "--limit", "60", "--scale", "unit"};
  Words kernel{"kernel", "--out", "k.h5"};
  kernel.insert(kernel.end(), data.begin(), data.end());
  ASSERT_EQ(folder.widelimit(kernel).status, 0);
  Words flow{"flow", "--json", "--loss", "squared", "--times", "1"};
  flow.insert(flow.end(), data.begin(), data.end());
  const auto computed = folder.widelimit(flow).record()["results"]["objective"];
  flow.insert(flow.end(), {"--gram", "k.h5"});
  EXPECT_EQ(folder.widelimit(flow).record()["results"]["objective"], computed);
}

TEST(Flow, HearsCtrlC) {
  const Folder folder;
  const Words words = flow_words({"--rate", "1e-9", "--steps", "1000000000", "--out", "t.csv"});
  const Finished done = folder.interrupted(words, std::chrono::milliseconds(700));
  EXPECT_EQ(done.status, 130) << done.err;
  EXPECT_TRUE(folder.names().empty());
}

TEST(Flow, RefusesWhatContradictsItself) {
  const Folder folder;
  const auto status = [&](const Words& more) { return folder.widelimit(flow_words(more)).status; };
  EXPECT_EQ(status({"--times", "1", "--rate", "0.1"}), 2);
  EXPECT_EQ(status({"--times", "1", "--until", "2"}), 2);
  EXPECT_EQ(status({"--loss", "absolute"}), 2);
  EXPECT_EQ(status({"--schedule", "pegasos", "--rate", "0.1"}), 2);
  EXPECT_EQ(status({"--out", "t.txt"}), 2);
  EXPECT_EQ(status({"--times", "inf", "--report", "page.html"}), 2);
  EXPECT_EQ(status({"--times", "2,1"}), 2);
  EXPECT_EQ(status({"--times", "-1"}), 2);
  EXPECT_EQ(status({"--steps", "-1"}), 2);
  EXPECT_EQ(status({"--rate", "-1"}), 2);
  EXPECT_EQ(status({"--until", "-1"}), 2);
  EXPECT_EQ(status({"--record", "999"}), 3);
  const Finished unstable = folder.widelimit(flow_words({"--loss", "squared", "--rate", "100"}));
  EXPECT_EQ(unstable.status, 4);
  EXPECT_NE(unstable.err.find("stable"), std::string::npos);
  EXPECT_EQ(unstable.record()["results"]["summary"]["ending"], "diverged");
}

}  // namespace
}  // namespace widelimit::test
