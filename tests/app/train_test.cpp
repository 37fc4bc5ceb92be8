#include "tests/app/program.hpp"

#include "widelimit/report/drawing/gnuplot.hpp"

#include <gtest/gtest.h>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words train_words(const Words& more) {
  Words words{"train", "--network", "fc:1", "--train", "digits", "--classes", "3,8",  "--limit", "60", "--split",
              "0.7",   "--scale",   "unit", "--width", "64",     "--rate",    "0.05", "--steps", "60", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(TrainVerb, TrainsAndTellsHowItWent) {
  const Folder folder;
  const Finished run =
      folder.widelimit(train_words({"--loss", "hinge", "--regulariser", "init", "--lambda", "0.01", "--out", "n.h5"}));
  ASSERT_EQ(run.status, 0) << run.err;
  const auto results = run.record()["results"];
  EXPECT_EQ(results["ending"], "finished");
  EXPECT_EQ(results["steps"], 60);
  EXPECT_EQ(results["record"]["steps"].size(), results["record"]["loss"].size());
  EXPECT_LT(results["loss"], results["record"]["loss"][0]);
  EXPECT_GT(results["accuracy"], 0.8);
  EXPECT_GT(results["test_accuracy"], 0.6);
  EXPECT_EQ(folder.names(), (Words{"n.h5"}));
  // Predicts on the training samples, read from their source: the network scales them.
  const Finished predicted =
      folder.widelimit({"predict", "--model", "n.h5", "--test", "digits", "--part", "train", "--json"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  EXPECT_EQ(predicted.record()["results"]["score"]["accuracy"], results["accuracy"]);
  const Finished oracle = folder.widelimit(
      {"predict", "--model", "n.h5", "--test", "digits", "--part", "train", "--backend", "reference", "--json"});
  ASSERT_EQ(oracle.status, 0) << oracle.err;
  EXPECT_EQ(oracle.record()["backend"]["name"], "reference");
  EXPECT_EQ(oracle.record()["results"]["score"]["accuracy"], results["accuracy"]);
}

TEST(TrainVerb, KeepsFrozenLayers) {
  const Folder folder;
  Words words = train_words({"--loss", "hinge", "--lambda", "0.01", "--out", "n.h5"});
  words[2] = "fc:1(frozen=1)";
  const Finished run = folder.widelimit(words);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.record()["results"]["weights"], 64);  // output layer only
  EXPECT_LT(run.record()["results"]["loss"], run.record()["results"]["record"]["loss"][0]);
  EXPECT_EQ(
      folder.widelimit({"predict", "--model", "n.h5", "--test", "digits", "--classes", "3,8", "--limit", "3"}).status,
      0);
  words[2] = "fc:1(frozen=2)";
  const Finished refused = folder.widelimit(words);
  EXPECT_EQ(refused.status, 3);
  EXPECT_NE(refused.err.find("nothing to train"), std::string::npos) << refused.err;
}

TEST(TrainVerb, WritesAPage) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "gnuplot is not here";
  const Folder folder;
  const Finished run = folder.widelimit(train_words({"--flow", "0.5", "--records", "11", "--report", "n.html"}));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(folder.names(), (Words{"n.html"}));
}

TEST(TrainVerb, IsAKernelMachine) {
  const Folder folder;
  Words words =
      train_words({"--loss", "logistic", "--regulariser", "output", "--lambda", "0.1", "--as-kernel-machine"});
  words[16] = "0.02";
  const Finished run = folder.widelimit(words);
  ASSERT_EQ(run.status, 0) << run.err;
  const auto machine = run.record()["results"]["kernel_machine"];
  EXPECT_EQ(machine["sign_changes"], 0);
  EXPECT_GT(machine["bound"]["value"], machine["bound"]["confidence"]);
  EXPECT_GT(machine["moved"], 0.1);
  EXPECT_LT(machine["difference"], 0.2 * machine["moved"].get<double>());
  EXPECT_EQ(machine["difference"], std::max(machine["train"].get<double>(), machine["test"].get<double>()));
  for (const Words& wrong :
       {Words{"--lambda", "1"}, Words{"--momentum", "0.5"}, Words{"--flow", "1"}, Words{"--centred"}}) {
    Words all = train_words({"--as-kernel-machine"});
    all.insert(all.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(folder.widelimit(all).status, 2) << wrong[0];
  }
  if (!gnuplot_is_present()) GTEST_SKIP() << "gnuplot is not here";
  words.insert(words.end(), {"--report", "n.html"});
  EXPECT_EQ(folder.widelimit(words).status, 0);
  EXPECT_EQ(folder.names(), (Words{"n.html"}));
}

TEST(TrainVerb, TakesAnOptimiserAndASchedule) {
  const Folder folder;
  const Words problem{"train",   "--network", "fc:1",    "--train", "digits", "--limit", "60",
                      "--scale", "unit",      "--width", "32",      "--loss", "softmax", "--json"};
  const auto with = [&](const Words& more) {
    Words words = problem;
    words.insert(words.end(), more.begin(), more.end());
    return folder.widelimit(words);
  };
  const Finished run = with({"--optimiser", "adamw", "--weight-decay", "0.01", "--epochs", "5", "--batch", "20",
                             "--schedule", "cosine", "--warmup", "0.2"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto record = run.record();
  EXPECT_EQ(record["results"]["steps"], 15);
  EXPECT_EQ(record["settings"]["optimiser"], "adamw");
  EXPECT_EQ(record["settings"]["epochs"], 5);
  EXPECT_EQ(record["settings"]["schedule"], "cosine");
  EXPECT_LT(record["results"]["time"], 15 * record["results"]["rate"].get<double>());
  EXPECT_EQ(with({"--optimiser", "adam", "--momentum", "0.9"}).status, 2);
  EXPECT_EQ(with({"--optimiser", "rmsprop"}).status, 2);
  EXPECT_EQ(with({"--epochs", "2", "--steps", "3"}).status, 2);
  EXPECT_EQ(with({"--schedule", "step", "--milestones", "0.7,0.2"}).status, 2);
}

/// A rate far beyond stability overflows the outputs, which the scores would report instead of the cause.
TEST(TrainVerb, NamesDivergenceAtAnyRate) {
  const Folder folder;
  for (const char* loss : {"squared", "hinge", "softmax"}) {
    for (const char* rate : {"1e9", "1e100", "1e300"}) {
      Words words = train_words({"--loss", loss, "--out", "n.h5"});
      words[16] = rate;
      const Finished run = folder.widelimit(words);
      EXPECT_EQ(run.status, 4) << rate;
      EXPECT_NE(run.err.find("diverged"), std::string::npos) << loss << ", " << rate << ": " << run.err;
      EXPECT_EQ(run.record()["results"]["ending"], "diverged");
      EXPECT_FALSE(run.record()["results"].contains("train")) << "scores of a network that is not written";
      EXPECT_TRUE(folder.names().empty());
    }
  }
}

TEST(TrainVerb, ZeroEpochsAreZeroSteps) {
  const Folder folder;
  const Finished run = folder.widelimit({"train", "--network", "fc:1", "--train", "digits", "--limit", "20", "--width",
                                         "8", "--rate", "0.01", "--epochs", "0", "--batch", "4", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.record()["results"]["steps"], 0);
  EXPECT_EQ(run.record()["settings"]["epochs"], 0);
}

TEST(TrainVerb, GoesOnFromACheckpoint) {
  const Folder folder;
  const Words problem{"train",   "--network",   "conv relu conv relu flatten dense",
                      "--train", "digits",      "--limit",
                      "40",      "--scale",     "byte",
                      "--width", "3,4",         "--loss",
                      "softmax", "--optimiser", "adam",
                      "--batch", "10",          "--crop",
                      "1",       "--json"};
  const auto with = [&](const Words& more) {
    Words words = problem;
    words.insert(words.end(), more.begin(), more.end());
    return folder.widelimit(words);
  };
  const Finished whole = with({"--epochs", "6", "--out", "whole.h5"});
  ASSERT_EQ(whole.status, 0) << whole.err;
  ASSERT_EQ(with({"--epochs", "4", "--checkpoint", "c.h5"}).status, 0);
  const Finished rest = with({"--epochs", "6", "--from", "c.h5", "--out", "rest.h5"});
  ASSERT_EQ(rest.status, 0) << rest.err;
  EXPECT_EQ(rest.record()["results"]["loss"], whole.record()["results"]["loss"]);
  const Finished tuned = with({"--epochs", "1", "--from", "whole.h5", "--shuffle", "1"});
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_EQ(tuned.record()["results"]["record"]["steps"][0], 0);
  EXPECT_EQ(with({"--epochs", "1", "--from", "whole.h5", "--seed", "3"}).status, 2);
  EXPECT_EQ(with({"--epochs", "6", "--from", "c.h5", "--seed", "3"}).status, 2);
  EXPECT_EQ(with({"--epochs", "1", "--checkpoint", "a.h5", "--out", "a.h5"}).status, 2);
  EXPECT_EQ(folder.widelimit({"predict", "--model", "c.h5", "--test", "digits", "--limit", "5"}).status, 0);
}

TEST(TrainVerb, LooksAtTheStepsAskedFor) {
  const Folder folder;
  const Finished run = folder.widelimit(train_words({"--record-steps", "1,10,37"}));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.record()["results"]["record"]["steps"], (std::vector<int>{0, 1, 10, 37, 60}));
  EXPECT_EQ(folder.widelimit(train_words({"--record-steps", "10,1"})).status, 2);
  EXPECT_EQ(folder.widelimit(train_words({"--record-steps", "61"})).status, 2);
  EXPECT_EQ(folder.widelimit(train_words({"--record-steps", "1", "--flow", "1"})).status, 2);
}

TEST(TrainVerb, HearsCtrlCAndSaysWhatIsKept) {
  const Folder folder;
  Words words = train_words({"--out", "n.h5"});
  words[18] = "1000000000";
  const Finished run = folder.interrupted(words, std::chrono::milliseconds(700));
  EXPECT_EQ(run.status, 130) << run.err;
  EXPECT_NE(run.err.find("of 1000000000 steps; the weights are not kept, and n.h5 is not written"), std::string::npos)
      << run.err;
  EXPECT_TRUE(run.out.empty());
  EXPECT_TRUE(folder.names().empty());
}

TEST(TrainVerb, ChoosesAStableRateAndTellsIt) {
  const Folder folder;
  const Words words{"train", "--network", "fc:2", "--train", "digits", "--classes", "3,8",     "--limit",
                    "60",    "--width",   "32",   "--steps", "40",     "--loss",    "logistic"};
  const Finished run = folder.widelimit(words);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("learning rate"), std::string::npos) << run.out;
  Words json = words;
  json.emplace_back("--json");
  const auto record = folder.widelimit(json).record();
  EXPECT_GT(record["settings"]["rate"], 0);
  EXPECT_EQ(record["settings"]["rate"], record["results"]["rate"]);
  EXPECT_LT(record["results"]["loss"], record["results"]["record"]["loss"][0]);
}

TEST(TrainVerb, TellsADeadNetworkAndKeepsWhatItSaw) {
  const Folder folder;
  const Finished run = folder.widelimit(
      {"train", "--network", "fc:1(b_std=1)", "--train", "digits", "--classes", "0,1",   "--limit", "100",  "--width",
       "8",     "--steps",   "100",           "--rate",  "0.05",   "--loss",    "hinge", "--out",   "n.h5", "--json"});
  EXPECT_EQ(run.status, 4) << run.err;
  EXPECT_NE(run.err.find("dead: all units of layer 2 (relu) are 0 for every sample"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("n.h5 is not written"), std::string::npos) << run.err;
  EXPECT_EQ(run.record()["results"]["ending"], "dead");
  EXPECT_GT(run.record()["results"]["record"]["loss"].size(), 1U);
  EXPECT_EQ(folder.names(), Words{});
}

// The reference back end multiplies copies of the weights: the training differs by rounding only, and the record names
// the back end.
TEST(TrainVerb, TrainsOnTheBackEndThatIsAskedFor) {
  const Folder folder;
  const Finished fast = folder.widelimit(train_words({}));
  const Finished oracle = folder.widelimit(train_words({"--backend", "reference"}));
  ASSERT_EQ(oracle.status, 0) << oracle.err;
  EXPECT_EQ(oracle.record()["backend"]["name"], "reference");
  const double loss = fast.record()["results"]["loss"];
  EXPECT_NEAR(oracle.record()["results"]["loss"], loss, 1e-9 * loss);
}

TEST(TrainVerb, EndsWithTheStatusOfWhatWentWrong) {
  const Folder folder;
  const Finished diverged = folder.widelimit(train_words({"--rate", "1000", "--out", "n.h5"}));
  EXPECT_EQ(diverged.status, 2);  // --rate is given twice
  Words words = train_words({"--out", "n.h5"});
  words[16] = "1000";
  const Finished far = folder.widelimit(words);
  EXPECT_EQ(far.status, 4) << far.err;
  EXPECT_NE(far.err.find("smaller learning rate"), std::string::npos) << far.err;
  EXPECT_EQ(folder.names(), Words{});
  EXPECT_EQ(folder.widelimit(train_words({"--loss", "hing"})).status, 2);
  EXPECT_EQ(folder.widelimit(train_words({"--regulariser", "both"})).status, 2);
  EXPECT_EQ(folder.widelimit(train_words({"--batch", "1000"})).status, 2);
  const Finished absent = folder.widelimit(train_words({"--backend", "cuda:99"}));
  EXPECT_EQ(absent.status, 2);
  EXPECT_NE(absent.err.find("cuda:99 is absent"), std::string::npos) << absent.err;
  EXPECT_EQ(folder.widelimit(train_words({"--memory", "1KiB"})).status, 5);
}

}  // namespace
}  // namespace widelimit::test
