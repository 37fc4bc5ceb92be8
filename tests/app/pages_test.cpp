#include "tests/app/pages.hpp"

#include "widelimit/report/drawing/gnuplot.hpp"

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

class Pages : public testing::Test {
 protected:
  void SetUp() override {
    if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  }

  nlohmann::json results(Words words) const {
    words.push_back("--json");
    const Finished run = folder.widelimit(words);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.record()["results"];
  }

  Folder folder;
};

Words fit_digits(const Words& more) {
  Words words{"fit",     "--network", "fc:2",      "--train", "digits",   "--limit", "120",   "--split", "0.7",
              "--scale", "unit",      "--machine", "svm",     "--lambda", "0.01",    "--out", "m.h5"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(Pages, OfTwoClassesHaveTheRocAndMargins) {
  const auto fitted = results(fit_digits({"--classes", "3,8", "--report", "fit.html"}));
  EXPECT_GT(fitted["train"]["auc"], 0.9);
  EXPECT_LE(fitted["test"]["auc"], 1.0);
  expect_page_opens(folder, "fit.html", 2);
  const Words predict{"predict", "--model", "m.h5", "--test", "digits", "--classes", "3,8", "--report", "p.html"};
  const Finished predicted = folder.widelimit(predict);
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  EXPECT_NE(predicted.out.find(", AUC 0."), std::string::npos) << predicted.out;
  expect_page_opens(folder, "p.html", 2);
}

TEST_F(Pages, OfOneClassHaveNoRoc) {
  ASSERT_EQ(folder.widelimit(fit_digits({"--classes", "3,8"})).status, 0);
  const auto predicted = results(
      {"predict", "--model", "m.h5", "--test", "digits", "--classes", "8", "--limit", "5", "--report", "p.html"});
  EXPECT_FALSE(predicted["score"].contains("auc"));
  expect_page_opens(folder, "p.html", 1);
}

TEST_F(Pages, OfManyClassesHaveTheConfusionAndMargins) {
  const auto fitted = results(fit_digits({"--report", "fit.html"}));
  EXPECT_GT(fitted["train"]["auc"], 0.9);
  expect_page_opens(folder, "fit.html", 3);
}

TEST_F(Pages, OfProbabilitiesHaveTheirReliability) {
  const auto fitted = results(fit_digits({"--classes", "3,8", "--probability", "--report", "fit.html"}));
  EXPECT_TRUE(fitted["test"].contains("calibration_error"));
  expect_page_opens(folder, "fit.html", 3);
}

TEST_F(Pages, OfTuneHaveTheErrorByLambda) {
  const auto tuned = results({"tune", "--network", "fc:1", "--train", "digits", "--limit", "60", "--lambdas", "0.01,1",
                              "--report", "tune.html"});
  EXPECT_TRUE(tuned["candidates"][0]["points"][0].contains("training_error"));
  expect_page_opens(folder, "tune.html", 1);
  (void)results({"tune", "--network", "fc:1", "--train", "digits", "--limit", "60", "--lambdas", "0.01,1", "--out",
                 "m.h5", "--report", "tune.html"});
  expect_page_opens(folder, "tune.html", 3);
}

TEST_F(Pages, OfComparisonsHaveBarsAndATableToSort) {
  (void)results({"compare", "--kernels", "linear,rbf(gamma=1)", "--train", "digits", "--limit", "60", "--lambdas",
                 "0.01,1", "--split", "0.7", "--report", "compare.html"});
  expect_page_opens(folder, "compare.html", 1);
}

}  // namespace
}  // namespace widelimit::test
