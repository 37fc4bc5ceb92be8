#include "tests/app/pages.hpp"

#include "widelimit/report/drawing/gnuplot.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words bound_words(const Words& more) {
  Words words{"bound",   "--network", "fc:1",    "--train", "digits",    "--classes", "0,1",
              "--split", "0.8",       "--scale", "unit",    "--threads", "1",         "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

nlohmann::json bounds_of(const Folder& folder, const Words& more) {
  const Finished done = folder.widelimit(bound_words(more));
  EXPECT_EQ(done.status, 0) << done.err;
  return done.record()["results"]["bounds"];
}

class BoundVerb : public testing::TestWithParam<const char*> {};

TEST_P(BoundVerb, BoundsEveryMachineOfClasses) {
  const Folder folder;
  const auto rows = bounds_of(folder, {"--machine", GetParam(), "--lambda", "0.1"});
  ASSERT_EQ(rows.size(), 1U);
  const auto machine = rows[0]["rademacher"];
  const double value = machine["textbook"]["value"];
  EXPECT_NEAR(value,
              machine["textbook"]["empirical"].get<double>() + machine["textbook"]["complexity"].get<double>() +
                  machine["textbook"]["confidence"].get<double>(),
              1e-12);
  EXPECT_EQ(machine["textbook"]["vacuous"].get<bool>(), value >= 1);
  EXPECT_GE(machine["uniform"]["value"], rows[0]["test"]);
  EXPECT_GT(rows[0]["label_bound"]["scaled"], 0);
}

INSTANTIATE_TEST_SUITE_P(Machines, BoundVerb,
                         testing::Values("regression", "ridge", "hard-svm", "svm", "svm2", "logistic"));

/// Its theorems hold for kernels that do not depend on the sample.
TEST(Bound, FittedScalingHasNoGuarantee) {
  const Folder folder;
  const auto warned = [&](const Words& words) {
    const Finished run = folder.widelimit(words);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.record()["results"]["remarks"].dump().find("no guarantee: the scaling 'standard'") != std::string::npos;
  };
  Words words = bound_words({});
  EXPECT_FALSE(warned(words));
  words[10] = "standard";
  EXPECT_TRUE(warned(words));
  const Words data{"--train", "digits", "--classes", "0,1", "--limit", "60"};
  Words fit{"fit", "--network", "fc:1", "--scale", "standard", "--out", "m.h5"};
  fit.insert(fit.end(), data.begin(), data.end());
  ASSERT_EQ(folder.widelimit(fit).status, 0);
  Words of_model{"bound", "--model", "m.h5", "--json"};
  of_model.insert(of_model.end(), data.begin(), data.end());
  EXPECT_TRUE(warned(of_model));
}

TEST(Bound, RandomAndFlippedLabelsBySize) {
  const Folder folder;
  const auto rows = bounds_of(
      folder, {"--machine", "ridge", "--lambda", "0.02", "--sizes", "60,280", "--random-labels", "3", "--flip", "0.1"});
  ASSERT_EQ(rows.size(), 6U);
  for (const std::size_t at : {std::size_t{0}, std::size_t{3}}) {
    EXPECT_EQ(rows[at]["labels"], "true");
    EXPECT_EQ(rows[at + 1]["labels"], "flipped");
    EXPECT_EQ(rows[at + 2]["labels"], "random");
    EXPECT_GT(rows[at + 2]["label_bound"]["scaled"], rows[at]["label_bound"]["scaled"]);
    EXPECT_GT(rows[at + 2]["rademacher"]["uniform"]["value"], rows[at]["rademacher"]["uniform"]["value"]);
    EXPECT_GT(rows[at + 1]["noisy_shape"], 0);
    EXPECT_GE(rows[at + 1]["clean"], rows[at + 1]["test"]);
  }
  EXPECT_LT(rows[3]["rademacher"]["textbook"]["value"], rows[0]["rademacher"]["textbook"]["value"]);
}

TEST(Bound, OfAModelIsThatOfItsFit) {
  const Folder folder;
  const Words data{"--train", "digits", "--classes", "0,1", "--split", "0.8", "--threads", "1"};
  Words fit{"fit", "--network", "fc:1", "--scale", "unit", "--machine", "svm", "--lambda", "0.1", "--out", "m.h5"};
  fit.insert(fit.end(), data.begin(), data.end());
  ASSERT_EQ(folder.widelimit(fit).status, 0);
  Words words{"bound", "--model", "m.h5", "--json"};
  words.insert(words.end(), data.begin(), data.end());
  const Finished read = folder.widelimit(words);
  ASSERT_EQ(read.status, 0) << read.err;
  const auto found = read.record()["results"]["bounds"][0]["rademacher"]["textbook"];
  const auto fitted = bounds_of(folder, {"--machine", "svm", "--lambda", "0.1"})[0]["rademacher"]["textbook"];
  EXPECT_NEAR(found["value"], fitted["value"].get<double>(), 1e-9);
  const Finished other =
      folder.widelimit({"bound", "--model", "m.h5", "--train", "digits", "--classes", "0,1", "--limit", "50"});
  EXPECT_EQ(other.status, 3);
  EXPECT_NE(other.err.find("fitted to"), std::string::npos) << other.err;
}

TEST(Bound, NumbersAndSeveralClasses) {
  const Folder folder;
  std::string csv = "a,b,y\n";
  for (int i = 0; i < 40; ++i) csv += fmt::format("{},{},{}\n", i % 7, i % 5, 0.25 * (i % 7) - 0.01 * i);
  folder.write("numbers.csv", csv);
  for (const char* machine : {"ridge", "svr"}) {
    const Finished done = folder.widelimit({"bound", "--network", "fc:1", "--train", "numbers.csv", "--split", "0.7",
                                            "--machine", machine, "--clip", "2", "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    const auto row = done.record()["results"]["bounds"][0];
    EXPECT_EQ(row["rademacher"]["range"], 2);
    EXPECT_EQ(row["rademacher"]["loss"], std::string(machine) == "svr" ? "insensitive" : "squared");
    EXPECT_TRUE(row.contains("test"));
  }
  const Finished ten = folder.widelimit(
      {"bound", "--network", "fc:1", "--train", "digits", "--limit", "200", "--machine", "svm", "--json"});
  ASSERT_EQ(ten.status, 0) << ten.err;
  const auto row = ten.record()["results"]["bounds"][0];
  EXPECT_TRUE(row["rademacher"]["textbook"]["vacuous"]);
  EXPECT_FALSE(row.contains("label_bound"));
}

TEST(Bound, RepeatedSamplesWithDifferentLabelsAreSaid) {
  const Folder folder;
  folder.write("twice.csv", "a,b,y\n1,0,x\n0,1,z\n1,0,z\n0.5,0.5,x\n");
  const Finished done =
      folder.widelimit({"bound", "--network", "fc:1", "--train", "twice.csv", "--machine", "svm", "--lambda", "1"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.out.find("infinite"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("singular"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("nan"), std::string::npos) << done.out;
}

TEST(Bound, HasAPage) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  const Folder folder;
  (void)bounds_of(folder, {"--machine", "svm", "--report", "one.html"});
  EXPECT_TRUE(std::filesystem::exists(folder.path("one.html")));
  const auto rows =
      bounds_of(folder, {"--machine", "ridge", "--lambda", "0.1", "--sizes", "50,200", "--report", "zero.html"});
  ASSERT_EQ(rows[1]["test"], 0);
  const std::string page = folder.run({"cat", "zero.html"}).out;
  EXPECT_EQ(page.find("non-positive"), std::string::npos) << "test errors of 0 are drawn";
  (void)bounds_of(folder, {"--machine", "svm", "--sizes", "50,200", "--random-labels", "1", "--report", "two.html"});
  expect_page_opens(folder, "two.html", 2);
}

TEST(Bound, RefusesWhatContradictsItself) {
  const Folder folder;
  const auto status = [&](const Words& more) { return folder.widelimit(bound_words(more)).status; };
  EXPECT_EQ(status({"--delta", "1.5"}), 2);
  EXPECT_EQ(status({"--delta", "0"}), 2);
  EXPECT_EQ(status({"--delta", "nan"}), 2);
  EXPECT_EQ(status({"--flip", "0.5"}), 2);
  EXPECT_EQ(status({"--sizes", "0"}), 2);
  EXPECT_EQ(status({"--sizes", "5000"}), 3);
  EXPECT_EQ(status({"--loss", "absolute"}), 2);
  EXPECT_EQ(status({"--loss", "softmax"}), 2);
  EXPECT_EQ(status({"--clip", "2"}), 2);
  EXPECT_EQ(status({"--model", "m.h5"}), 2);
  const Finished both = folder.widelimit({"bound", "--train", "digits", "--machine", "svm"});
  EXPECT_EQ(both.status, 2);
  EXPECT_NE(both.err.find("--network"), std::string::npos) << both.err;
  const Finished flat = folder.widelimit(
      {"bound", "--network", "fc:1", "--train", "digits", "--limit", "100", "--machine", "svm", "--flip", "0.1"});
  EXPECT_EQ(flat.status, 2);
}

}  // namespace
}  // namespace widelimit::test
