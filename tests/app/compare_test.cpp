#include "tests/app/program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

class CompareVerb : public testing::Test {
 protected:
  Folder folder;

  Finished compare(const Words& more) const {
    Words words{"compare", "--train", "digits", "--limit", "120", "--scale", "unit"};
    words.insert(words.end(), more.begin(), more.end());
    return folder.widelimit(words);
  }
  nlohmann::json results(Words more) const {
    more.emplace_back("--json");
    const Finished run = compare(more);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.record()["results"];
  }
  /// Returns the row with this name.
  static nlohmann::json row(const nlohmann::json& results, const std::string& kernel) {
    for (const auto& one : results["kernels"]) {
      if (one["kernel"] == kernel) return one;
    }
    ADD_FAILURE() << kernel;
    return {};
  }
};

TEST_F(CompareVerb, EachKernelIsTunedAsTuneDoes) {
  const auto found = results({"--networks", "fc:1; fc:2", "--kernels", "rbf(gamma=2), laplace", "--lambdas",
                              "1e-4,0.01,1", "--folds", "4", "--seed", "3"});
  EXPECT_EQ(found["test"], "exact McNemar test");
  EXPECT_EQ(found["folds"], 4);
  ASSERT_EQ(found["kernels"].size(), 4U);
  for (const char* network : {"fc:1", "fc:2"}) {
    const Finished tuned =
        folder.widelimit({"tune", "--network", network, "--train", "digits", "--limit", "120", "--scale", "unit",
                          "--lambdas", "1e-4,0.01,1", "--folds", "4", "--seed", "3", "--json"});
    const auto best = tuned.record()["results"]["best"];
    EXPECT_EQ(row(found, network)["tuned_error"], best["error"]);
    EXPECT_EQ(row(found, network)["lambda"], best["lambda"]);
  }
  const auto laplace = row(found, "laplace");
  EXPECT_TRUE(laplace["chosen"].get<std::string>().starts_with("laplace(gamma="));
  EXPECT_EQ(laplace["folds"].size(), 4U);
  EXPECT_EQ(row(found, "rbf(gamma=2)")["chosen"], "rbf(gamma=2)");
}

TEST_F(CompareVerb, BothKindsOfEachNetwork) {
  const auto found = results({"--networks", "fc:2", "--kind", "ntk,nngp", "--lambdas", "0.01"});
  EXPECT_EQ(row(found, "fc:2")["kind"], "ntk");
  EXPECT_EQ(row(found, "fc:2 nngp")["kind"], "nngp");
  const auto swept = results({"--networks", "fc:1", "--sweep", "--lambdas", "0.01"});
  EXPECT_TRUE(row(swept, "fc:1 sweep").contains("chosen"));
}

TEST_F(CompareVerb, AKernelThatFailsIsARowWithItsReason) {
  const Finished run = compare({"--networks", "fc:1;gntk:3", "--lambdas", "0.01", "--out", "t.csv"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("gntk:3 failed: "), std::string::npos) << run.out;
  std::ifstream file(folder.path("t.csv"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\ngntk:3,failed,"), std::string::npos) << text;
  EXPECT_EQ(compare({"--networks", "gntk:3"}).status, 3);
}

TEST_F(CompareVerb, TheBestIsFittedAndSaved) {
  const auto found = results(
      {"--kernels", "linear,rbf", "--split", "0.7", "--lambdas", "1e-3,0.1", "--save", "m.h5", "--out", "t.json"});
  const Finished predicted =
      folder.widelimit({"predict", "--model", "m.h5", "--test", "digits", "--part", "test", "--json"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  const double accuracy = predicted.record()["results"]["score"]["accuracy"].get<double>();
  EXPECT_NEAR(row(found, found["best"])["test_error"].get<double>(), 1 - accuracy, 1e-12);
  const auto rows = nlohmann::json::parse(std::ifstream(folder.path("t.json")));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["kernel"], found["best"]);
  EXPECT_EQ(rows[0]["verdict"], "best");
}

TEST_F(CompareVerb, NumbersAreComparedByTheirSquaredErrors) {
  std::string table = "x,y\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("{},{}\n", 0.1 * i, std::sin(0.5 * i));
  folder.write("t.csv", table);
  const Finished run =
      folder.widelimit({"compare", "--train", "t.csv", "--kernels", "linear,rbf", "--scale", "standard", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto found = run.record()["results"];
  EXPECT_EQ(found["criterion"], "squared_error");
  EXPECT_EQ(found["test"], "paired t-test");
  EXPECT_EQ(found["best"], "rbf");
  folder.write("one.txt", "0 1 2 3 4 5 6 7 8 9 10 11\n12\n");
  const Finished single =
      folder.widelimit({"compare", "--train", "t.csv", "--kernels", "linear,rbf", "--folds", "one.txt"});
  ASSERT_EQ(single.status, 0) << single.err;
  EXPECT_NE(single.out.find("does not allow a test"), std::string::npos) << single.out;
}

TEST_F(CompareVerb, WithoutNamesComparesTheUsualAndSaysSo) {
  const Finished run = folder.widelimit({"compare", "--train", "spirals(n=60)", "--folds", "3"});
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* name : {"linear", "rbf", "laplace", "fc:1", "fc:3", "fc:5", "no kernels were given"}) {
    EXPECT_NE(run.out.find(name), std::string::npos) << name << run.out;
  }
}

TEST_F(CompareVerb, RefusesBeforeAnyWork) {
  EXPECT_EQ(compare({"--networks", "fc:1;;fc:2"}).status, 2);
  EXPECT_EQ(compare({"--networks", "fc:1;fc:1"}).status, 2);
  EXPECT_EQ(compare({"--networks", "fc:x"}).status, 3);
  EXPECT_EQ(compare({"--kernels", "rfb"}).status, 3);
  EXPECT_EQ(compare({"--kernels", "rbf", "--lambdas", "0"}).status, 2);
  EXPECT_EQ(compare({"--kernels", "rbf", "--folds", "1"}).status, 2);
  EXPECT_EQ(compare({"--kernels", "rbf", "--machine", "svm", "--inner-folds", "1"}).status, 2);
  EXPECT_EQ(compare({"--kernels", "rbf", "--out", "t.txt"}).status, 2);
  EXPECT_EQ(compare({"--kernels", "rbf", "--out", "t.csv", "--save", "t.csv"}).status, 2);
  EXPECT_EQ(compare({"--kernels", "rbf", "--sweep"}).status, 2);
  EXPECT_EQ(compare({"--kernels", "rbf", "--probability"}).status, 2);
  EXPECT_TRUE(folder.names().empty());
}

TEST_F(CompareVerb, StopsOnAnInterrupt) {
  const Finished run = folder.interrupted({"compare", "--train", "digits", "--networks", "cntk:5", "--out", "t.csv"},
                                          std::chrono::milliseconds(700));
  EXPECT_EQ(run.status, 130) << run.err;
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace widelimit::test
