#include "tests/app/program.hpp"

#include "widelimit/base/version.hpp"
#include "widelimit/data/formats/npz.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

// Results carry their settings, seed, version and back end.

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

const Words eights{"--train", "digits", "--classes", "3,8", "--limit", "40", "--scale", "unit", "--seed", "5"};

Words on_eights(Words words) {
  words.insert(words.end(), eights.begin(), eights.end());
  return words;
}

std::string page_text(const Folder& folder, const std::string& name) {
  std::ifstream file(folder.path(name));
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Verb {
  std::string name;
  Words words;
};

class Provenance : public testing::TestWithParam<Verb> {
 protected:
  Folder folder;
};

TEST_P(Provenance, IsOnThePage) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  Words words = on_eights(GetParam().words);
  words.insert(words.end(), {"--out", "out.npz", "--report", "page.html"});
  const Finished run = folder.widelimit(words);
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string page = page_text(folder, "page.html");
  EXPECT_NE(page.find("<dt>seed</dt><dd>5</dd>"), std::string::npos);
  EXPECT_NE(page.find("<dt>backend</dt><dd>cpu: "), std::string::npos);
  EXPECT_NE(page.find("<dt>precision</dt><dd>f64</dd>"), std::string::npos);
  EXPECT_NE(page.find(std::string("Written by widelimit ") + std::string(version())), std::string::npos);
}

TEST_P(Provenance, IsInTheFile) {
  Words words = on_eights(GetParam().words);
  words.insert(words.end(), {"--out", "out.npz"});
  const Finished run = folder.widelimit(words);
  ASSERT_EQ(run.status, 0) << run.err;
  const auto settings = nlohmann::json::parse(read_npz_arrays(folder.path("out.npz")).settings);
  EXPECT_EQ(settings["widelimit"], version());
  EXPECT_EQ(settings["seed"], 5);
  EXPECT_EQ(settings["backend"], "cpu");
  EXPECT_EQ(settings["precision"], "f64");
  EXPECT_EQ(settings["class_names"], (nlohmann::json{"3", "8"}));
  EXPECT_EQ(settings["data"]["limit"], 40);
}

INSTANTIATE_TEST_SUITE_P(
    Verbs, Provenance,
    testing::Values(Verb{"kernel", {"kernel", "--network", "fc:1"}},
                    Verb{"flow", {"flow", "--network", "fc:1", "--times", "0,1"}},
                    Verb{"ensemble", {"ensemble", "--network", "fc:1", "--times", "0,inf"}},
                    Verb{"spectrum", {"spectrum", "--network", "fc:1"}}, Verb{"nth", {"nth", "--samples", "64"}},
                    Verb{"evolution",
                         {"evolution", "--network", "fc:1", "--width", "8", "--epochs", "1", "--probe", "5"}}),
    [](const auto& verb) { return verb.param.name; });

TEST(Settings, OfPredictionsIsInTheirFiles) {
  const Folder folder;
  const Finished fitted = folder.widelimit(
      on_eights({"fit", "--network", "fc:1", "--machine", "ridge", "--lambda", "0.1", "--posterior", "--out", "m.h5"}));
  ASSERT_EQ(fitted.status, 0) << fitted.err;
  const Finished predicted = folder.widelimit({"predict", "--model", "m.h5", "--test", "digits", "--classes", "3,8",
                                               "--limit", "4", "--out", "p.npz", "--covariance", "c.npz"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  for (const char* name : {"p.npz", "c.npz"}) {
    const auto settings = nlohmann::json::parse(read_npz_arrays(folder.path(name)).settings);
    EXPECT_EQ(settings["widelimit"], version()) << name;
    EXPECT_EQ(settings["model"], "m.h5") << name;
    EXPECT_EQ(settings["backend"], "cpu") << name;
    EXPECT_EQ(settings["class_names"], (nlohmann::json{"3", "8"})) << name;
  }
}

TEST(Settings, OfAnExperimentIsOnItsPage) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  const Folder folder;
  const Finished run = folder.widelimit({"experiment", "hoeffding", "--seed", "5", "--report", "page.html"});
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string page = page_text(folder, "page.html");
  EXPECT_NE(page.find("<dt>seed</dt><dd>5</dd>"), std::string::npos);
  EXPECT_NE(page.find("<dt>backend</dt>"), std::string::npos);
}

TEST(Settings, OfAFlowHasItsTimes) {
  const Folder folder;
  const auto settings = [&](const Words& more) {
    Words words = on_eights({"flow", "--network", "fc:1", "--json"});
    words.insert(words.end(), more.begin(), more.end());
    const Finished run = folder.widelimit(words);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.record()["settings"];
  };
  EXPECT_EQ(settings({"--times", "0,2,inf"})["times"], (nlohmann::json{0.0, 2.0, "inf"}));
  const auto even = settings({"--until", "3", "--points", "4", "--record", "0,7"});
  EXPECT_EQ(even["until"], 3.0);
  EXPECT_EQ(even["points"], 4);
  EXPECT_EQ(even["record"], (nlohmann::json{0, 7}));
  EXPECT_TRUE(even.contains("tolerance"));
  EXPECT_FALSE(settings({"--steps", "3"}).contains("times"));
}

TEST(Settings, OfASelectionHasItsMachine) {
  const Folder folder;
  const Finished tuned = folder.widelimit(on_eights({"tune", "--network", "fc:1", "--machine", "svm", "--scheme",
                                                     "one-vs-rest", "--lambdas", "0.1,1", "--folds", "2", "--json"}));
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  const auto settings = tuned.record()["settings"];
  EXPECT_EQ(settings["scheme"], "one-vs-rest");
  EXPECT_EQ(settings["lambdas"], (nlohmann::json{0.1, 1.0}));
  EXPECT_FALSE(settings.contains("epsilon"));
}

TEST(Settings, NotesAndWarningsSayWhatTheyAre) {
  const Folder folder;
  const Finished noted = folder.widelimit(on_eights({"likelihood", "--network", "fc:1"}));
  ASSERT_EQ(noted.status, 0) << noted.err;
  EXPECT_TRUE(noted.err.starts_with("widelimit: note: ")) << noted.err;
  const Finished quiet = folder.widelimit(on_eights({"likelihood", "--network", "fc:1", "--quiet"}));
  EXPECT_EQ(quiet.err, "");
}

}  // namespace
}  // namespace widelimit::test
