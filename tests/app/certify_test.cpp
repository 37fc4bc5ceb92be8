#include "tests/app/pages.hpp"

#include "widelimit/report/drawing/gnuplot.hpp"

#include <fmt/format.h>

#include <cmath>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

void extend(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

class Certify : public testing::Test {
 protected:
  void fit(const Words& more, const std::string& network = "fc:1(w_std=1.4142)",
           const std::string& limit = "160") const {
    Words words{"fit", "--network", network, "--train", "digits", "--limit", limit, "--out", "m.h5", "--lambda", "1"};
    extend(words, more);
    const Finished run = folder.widelimit(words);
    ASSERT_EQ(run.status, 0) << run.err;
  }
  /// Certifies held-out digits unless `more` selects other samples.
  [[nodiscard]] Finished certify(const Words& more) const {
    Words words{"certify", "--model", "m.h5", "--test", "digits", "--shuffle", "5", "--limit", "12"};
    extend(words, more);
    return folder.widelimit(words);
  }
  [[nodiscard]] nlohmann::json results(Words more) const {
    more.emplace_back("--json");
    const Finished run = certify(more);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.record()["results"];
  }
  void refused(const Words& more, int status, const std::string& part) const {
    const Finished run = certify(more);
    EXPECT_EQ(run.status, status) << run.err;
    EXPECT_TRUE(run.out.empty()) << run.out;
    EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
  }

  Folder folder;
};

TEST_F(Certify, MethodsGrowAndStayBelowTheAttack) {
  fit({"--machine", "ridge", "--classes", "3,8"});
  const auto found = results({"--classes", "3,8", "--method", "all", "--box", "0,16", "--attack"});
  EXPECT_EQ(found["samples"], 12);
  EXPECT_EQ(found["correct"].get<int>() + found["misclassified"].get<int>(), 12);
  ASSERT_EQ(found["methods"].size(), 3U);
  const auto distances = found["attack"]["distance"];
  for (std::size_t i = 0; i < 12; ++i) {
    double before = 0;
    for (const auto& method : found["methods"]) {
      const double radius = method["radius"][i];
      EXPECT_GE(radius, before * (1 - 2e-3)) << method["method"];
      before = radius;
    }
    EXPECT_EQ(before > 0, found["is_correct"][i].get<bool>());
    if (!distances[i].is_null()) {
      EXPECT_LE(before, distances[i].get<double>());
    }
  }
  EXPECT_GT(found["methods"][2]["ratio"], 0.1);
  EXPECT_LE(found["methods"][2]["ratio"], 1.0);
  EXPECT_GT(found["methods"][2]["mean"], found["methods"][0]["mean"]);
}

TEST_F(Certify, TablesWithUnlikeScalesAreNoted) {
  std::string text = "age,income,y\n";
  for (int i = 0; i < 30; ++i)
    text += fmt::format("{},{},{}\n", i * 7 % 13, 1e6 * (i * 5 % 11), i % 2 == 0 ? "p" : "q");
  folder.write("t.csv", text);
  const Words fitted{"fit",      "--network", "fc:1", "--train", "t.csv", "--scale",
                     "standard", "--split",   "0.8",  "--out",   "m.h5",  "-q"};
  ASSERT_EQ(folder.widelimit(fitted).status, 0);
  Words words{"certify", "--model", "m.h5", "--test", "t.csv", "--part", "test", "--method", "all", "--json"};
  const Finished unlike = folder.widelimit(words);
  ASSERT_EQ(unlike.status, 0) << unlike.err;
  EXPECT_EQ(unlike.record()["results"]["methods"].size(), 2U) << "Theorem 4.2 has no balls of unequal widths";
  EXPECT_NE(unlike.err.find("scales of the features differ"), std::string::npos) << unlike.err;
  EXPECT_EQ(unlike.record()["notes"].size(), 1U);
  extend(words, {"--units", "scaled"});
  const Finished alike = folder.widelimit(words);
  EXPECT_EQ(alike.record()["results"]["methods"].size(), 3U);
  EXPECT_FALSE(alike.record().contains("notes"));
}

TEST_F(Certify, OfNumbersRefersToSigns) {
  folder.write("t.csv", "a,b,y\n1,2,0.5\n2,1,-0.5\n3,5,1.5\n-1,2,-2.5\n");
  ASSERT_EQ(
      folder.widelimit({"fit", "--network", "fc:1", "--train", "t.csv", "--machine", "ridge", "--out", "m.h5"}).status,
      0);
  const Finished run = folder.widelimit({"certify", "--model", "m.h5", "--test", "t.csv"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("predicts numbers"), std::string::npos) << run.err;
}

TEST_F(Certify, OneRadiusIsAYesOrANo) {
  fit({"--machine", "svm", "--classes", "3,8"});
  const auto all = results({"--classes", "3,8", "--method", "interval"});
  const double median = all["methods"][0]["median"];
  const auto one = results({"--classes", "3,8", "--method", "interval", "--radius", std::to_string(median)});
  for (std::size_t i = 0; i < 12; ++i) {
    const double radius = all["methods"][0]["radius"][i];
    if (std::abs(radius / median - 1) < 0.01) continue;  // within the tolerance of the search
    EXPECT_EQ(one["methods"][0]["radius"][i].get<double>() > 0, radius > median) << i;
  }
  const Finished told = certify({"--classes", "3,8", "--radius", "1e-9"});
  EXPECT_NE(told.out.find("certified at 1e-09"), std::string::npos) << told.out;
}

TEST_F(Certify, TenClassesByPairsAndByOutputs) {
  for (const char* machine : {"ridge", "svm", "logistic"}) {
    fit({"--machine", machine});
    const auto found = results({"--norm", "l2", "--method", "interval", "--at", "0.001,0.01"});
    EXPECT_EQ(found["methods"][0]["certified"].size(), 2U) << machine;
    EXPECT_GT(found["methods"][0]["mean"], 0) << machine;
  }
}

TEST_F(Certify, TheTableHasARowForEachSample) {
  fit({"--machine", "ridge", "--classes", "3,8", "--scale", "unit"});
  const Finished run = certify({"--classes", "3,8", "--out", "r.csv"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("mean radius"), std::string::npos) << run.out;
  const Finished lines = folder.run({"wc", "-l", "r.csv"});
  EXPECT_EQ(lines.out, "13 r.csv\n");
  ASSERT_EQ(certify({"--classes", "3,8", "--out", "r.json"}).status, 0);
  const auto rows = nlohmann::json::parse(folder.run({"cat", "r.json"}).out);
  ASSERT_EQ(rows.size(), 12U);
  EXPECT_EQ(rows[11]["sample"], 11);
  EXPECT_TRUE(rows[0]["class"] == "3" || rows[0]["class"] == "8");
  ASSERT_EQ(certify({"--classes", "3,8", "--out", "r.tsv"}).status, 0);
  EXPECT_EQ(folder.run({"head", "-c", "13", "r.tsv"}).out, "sample\tclass\t");
}

TEST_F(Certify, NumbersByTheirSign) {
  std::string table = "x,z,y\n";
  for (int i = -10; i < 10; ++i) {
    table += std::to_string(0.1 * i + 0.05) + "," + std::to_string(0.02 * i * i) + "," + std::to_string(i + 0.5) + "\n";
  }
  folder.write("t.csv", table);
  ASSERT_EQ(folder
                .widelimit({"fit", "--network", "fc:1", "--train", "t.csv", "--machine", "ridge", "--lambda", "0.01",
                            "--out", "m.h5"})
                .status,
            0);
  const Finished run = folder.widelimit({"certify", "--model", "m.h5", "--test", "t.csv", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_GT(run.record()["results"]["methods"][0]["mean"], 0);
  const Finished unlabelled = folder.widelimit({"certify", "--model", "m.h5", "--test", "t.csv", "--label", "none"});
  EXPECT_EQ(unlabelled.status, 3) << unlabelled.err;
  EXPECT_NE(unlabelled.err.find("no targets"), std::string::npos) << unlabelled.err;
}

TEST_F(Certify, ATrainedNetworkByIntervals) {
  const Words train{"train",   "--network", "fc:1",    "--train", "digits", "--classes", "3,8",
                    "--limit", "60",        "--scale", "unit",    "--loss", "hinge",     "--rate",
                    "0.02",    "--out",     "m.h5",    "--width", "64",     "--steps",   "60"};
  ASSERT_EQ(folder.widelimit(train).status, 0);
  const auto found = results({"--classes", "3,8", "--attack"});
  ASSERT_EQ(found["methods"].size(), 1U);
  EXPECT_EQ(found["methods"][0]["method"], "interval");
  EXPECT_GT(found["methods"][0]["mean"], 0);
  EXPECT_EQ(
      folder.widelimit({"certify", "--network-file", "m.h5", "--test", "digits", "--classes", "3,8", "--limit", "3"})
          .status,
      0);
  const Finished noted = folder.widelimit({"certify", "--model", "m.h5", "--test", "digits", "--classes", "3,8",
                                           "--limit", "3", "--method", "paper", "--json"});
  ASSERT_EQ(noted.status, 0) << noted.err;
  EXPECT_NE(noted.err.find("note: --method has no effect"), std::string::npos) << noted.err;
  EXPECT_EQ(noted.record()["settings"]["method"], "interval");
}

TEST_F(Certify, SaysWhatIsWrong) {
  fit({"--machine", "ridge", "--classes", "3,8"});
  refused({"--classes", "3,8", "--radius", "0"}, 2, "radius");
  refused({"--classes", "3,8", "--radius", "-1"}, 2, "radius");
  refused({"--classes", "3,8", "--norm", "l3"}, 2, "linf");
  refused({"--classes", "3,8", "--method", "best"}, 2, "paper, interval, convex, all");
  refused({"--classes", "3,8", "--precision", "f16"}, 2, "f16");
  refused({"--classes", "3,8", "--box", "1,0"}, 2, "box");
  refused({"--classes", "3,8", "--box", "1"}, 2, "--box");
  refused({"--classes", "3,8", "--at", "0"}, 2, "--at");
  refused({"--classes", "3,8", "--tolerance", "0"}, 2, "tolerance");
  refused({"--classes", "3,8", "--attack-steps", "5"}, 2, "--attack");
  refused({"--classes", "3,8", "--attack", "--attack-steps", "0"}, 2, "step");
  refused({"--classes", "3,8", "--scale", "unit"}, 2, "--scale");
  refused({"--classes", "3,8", "--box", "0,1"}, 3, "box");
  refused({"--classes", "3,5"}, 3, "class '5' does not occur in the training set, whose classes are: 3, 8");
  refused({"--classes", "3,8", "--report", "none/r.html"}, 5, "none/r.html");
  refused({"--classes", "3,8", "--out", "./m.h5"}, 2, "--out './m.h5' is the file that --model reads");
  refused({"--classes", "3,8", "--out", "r.html", "--report", "r.html"}, 2, "choose different files");
  refused({"--classes", "3,8", "--out", "r.npz"}, 2, "--out r.npz: the extension must be .csv, .tsv or .json");
  EXPECT_EQ(folder.names(), (Words{"m.h5"}));
}

TEST_F(Certify, RefusesMachinesWithoutCertificates) {
  for (const char* network : {"dense erf dense", "conv relu flatten dense"}) {
    fit({"--machine", "ridge", "--classes", "3,8"}, network, "30");
    refused({"--classes", "3,8"}, 2, network[0] == 'd' ? "erf" : "conv");
  }
}

TEST_F(Certify, PageShowsTheWeakestSamples) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  fit({"--machine", "ridge", "--classes", "3,8"});
  const Finished run =
      certify({"--classes", "3,8", "--method", "all", "--box", "0,16", "--attack", "--report", "r.html"});
  ASSERT_EQ(run.status, 0) << run.err;
  expect_page_opens(folder, "r.html", 3);
  const Finished page = folder.run({"cat", "r.html"});
  EXPECT_NE(page.out.find("data:image/png;base64,"), std::string::npos);
  EXPECT_NE(page.out.find("; radii are in the units of the samples<"), std::string::npos);
}

TEST_F(Certify, HearsAnInterrupt) {
  fit({"--machine", "ridge"}, "fc:1", "300");
  for (const Words& slow :
       {Words{"--tolerance", "1e-9", "--norm", "l2"}, Words{"--attack", "--attack-steps", "100000000"}}) {
    Words words{"certify", "--model", "m.h5", "--test", "digits"};
    extend(words, slow);
    const Finished run = folder.interrupted(words, std::chrono::milliseconds(500));
    EXPECT_EQ(run.status, 130) << run.err;
    EXPECT_TRUE(run.out.empty());
  }
}

}  // namespace
}  // namespace widelimit::test
