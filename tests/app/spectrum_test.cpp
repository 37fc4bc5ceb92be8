#include "tests/app/data_experiment.hpp"

#include "widelimit/report/drawing/gnuplot.hpp"

#include <fstream>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words spectrum_words(const Words& more) {
  Words words{"spectrum", "--network", "fc:1",    "--train", "digits", "--classes", "3,8",
              "--limit",  "30",        "--scale", "unit",    "--seed", "3",         "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(SpectrumVerb, PredictsLossesOfAllLabels) {
  const Folder folder;
  const Finished done = folder.widelimit(
      spectrum_words({"--labels", "true,random:0.5,random,worst", "--times", "0,1,inf", "--ridges", "0.1"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  EXPECT_EQ(results["eigenvalues"].size(), 30U);
  EXPECT_EQ(results["rank"], 30);
  EXPECT_NEAR(results["stable_rate"].get<double>() * results["eigenvalues"][0].get<double>(), 2, 1e-12);
  EXPECT_NEAR(results["rate"].get<double>() * results["eigenvalues"][0].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(results["times"][2], "inf");
  ASSERT_EQ(results["labels"].size(), 4U);
  for (const auto& one : results["labels"]) {
    EXPECT_NEAR(one["loss"][0].get<double>(), 30, 1e-9);  // ‖±1‖²
    EXPECT_LT(one["loss"][2].get<double>(), 1e-20);
    // For x = ηλ ≤ ½ the factor 1 − x of a step is between e^{−1.39x} and e^{−x}.
    const double time = one["time_to_epsilon"];
    const double steps = one["steps_to_epsilon"].get<double>() * results["rate"].get<double>();
    EXPECT_LE(steps, time + results["rate"].get<double>());
    EXPECT_GE(steps, time / 1.39);
  }
  EXPECT_LT(results["labels"][0]["norm"].get<double>(), results["labels"][3]["norm"].get<double>());
  EXPECT_TRUE(folder.names().empty());
}

TEST(SpectrumVerb, TrainsANetworkBesideAndWritesFiles) {
  const Folder folder;
  const bool figures = gnuplot_is_present();
  for (const std::string out : {"s.csv", "s.npz", "s.h5"}) {
    Words words =
        spectrum_words({"--labels", "true,random:0.5", "--steps", "20", "--width", "64", "--out", out, "--modes", "3"});
    if (figures && out == "s.csv") words.insert(words.end(), {"--report", "page.html"});
    const Finished done = folder.widelimit(words);
    ASSERT_EQ(done.status, 0) << done.err;
    const auto network = done.record()["results"]["labels"][0]["network"];
    EXPECT_EQ(network["width"], 64);
    EXPECT_EQ(network["steps"].front(), 0);
    EXPECT_EQ(network["steps"].back(), 20);
    EXPECT_LT(network["loss"].back(), network["loss"].front());
    EXPECT_EQ(network["loss"].size(), network["predicted_loss"].size());
    ASSERT_FALSE(network["rates"].empty());
  }
  if (figures) {
    std::ifstream page(folder.path("page.html"));
    const std::string text((std::istreambuf_iterator<char>(page)), {});
    int drawn = 0;
    for (auto at = text.find("<svg"); at != std::string::npos; at = text.find("<svg", at + 1)) ++drawn;
    EXPECT_EQ(drawn, 8);
  }
  std::ifstream file(folder.path("s.csv"));
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "direction,eigenvalue,true,random:0.5");
  int rows = 0;
  while (std::getline(file, line)) ++rows;
  EXPECT_EQ(rows, 30);
}

TEST(SpectrumVerb, RefusesWhatItCannotDo) {
  const Folder folder;
  const auto status = [&](const Words& more) { return folder.widelimit(spectrum_words(more)).status; };
  EXPECT_EQ(status({"--labels", "half"}), 2);
  EXPECT_EQ(status({"--labels", "true,true"}), 2);
  EXPECT_EQ(status({"--epsilon", "1"}), 2);
  EXPECT_EQ(status({"--rate", "1e9"}), 2);
  EXPECT_EQ(status({"--width", "8"}), 2);
  EXPECT_EQ(status({"--steps", "5", "--kind", "nngp"}), 2);
  EXPECT_EQ(status({"--times", "-1"}), 2);
  EXPECT_EQ(status({"--out", "s.txt"}), 2);
  EXPECT_TRUE(folder.names().empty());
}

/// Two equal samples of different classes: half of the labels is never learned, which the output reports.
TEST(SpectrumVerb, TellsTheFloorOfRepeatedSamples) {
  const Folder folder;
  folder.write("twins.csv", "a,b,label\n1,2,x\n1,2,y\n2,1,x\n2,1,y\n");
  const Finished done = folder.widelimit(
      {"spectrum", "--network", "fc:1", "--train", "twins.csv", "--label", "label", "--labels", "true", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  EXPECT_EQ(results["rank"], 2);
  EXPECT_NEAR(results["labels"][0]["floor"].get<double>(), 1, 1e-12);
  EXPECT_TRUE(results["labels"][0]["norm"].is_null());
  EXPECT_TRUE(results["labels"][0]["time_to_epsilon"].is_null());
  EXPECT_EQ(results["remarks"].size(), 2U);
  folder.write("zero.csv", "a,b,label\n0,0,x\n0,0,y\n");
  EXPECT_EQ(folder.widelimit({"spectrum", "--network", "fc:1", "--train", "zero.csv", "--label", "label"}).status, 3);
  EXPECT_NE(done.err.find("never falls"), std::string::npos);
}

class SpectrumExperiment : public DataExperiment {
 protected:
  void SetUp() override { need({"mnist/train-images-idx3-ubyte.gz", "mnist/train-images-idx3-ubyte"}, "MNIST"); }
};

TEST_F(SpectrumExperiment, LearnsTrueLabelsFirst) {
  const Finished done = run({"experiment", "spectrum-labels", "--sets", "mnist", "--samples", "30", "--width", "256",
                             "--steps", "20", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto rows = done.record()["results"]["mnist"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_LT(rows[0]["loss"], rows[1]["loss"]);
  EXPECT_LT(rows[0]["predicted_loss"], rows[1]["predicted_loss"]);
  EXPECT_GT(rows[0]["first_directions"], rows[2]["first_directions"]);
  EXPECT_LT(rows[0]["complexity"], rows[1]["complexity"]);
  EXPECT_EQ(run({"experiment", "spectrum-labels", "--sets", "letters"}).status, 2);
}

TEST_F(SpectrumExperiment, ComplexityRisesWithRandomLabels) {
  const Finished done = run({"experiment", "label-complexity", "--sets", "mnist", "--samples", "60", "--tests", "50",
                             "--shares", "0,1", "--draws", "2", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto rows = done.record()["results"]["mnist"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_LT(rows[0]["complexity"], rows[1]["complexity"]);
  EXPECT_LT(rows[0]["test_error"], 0.1);
  EXPECT_GT(rows[1]["test_error"], 0.25);
  EXPECT_EQ(rows[0]["smallest"], rows[0]["largest"]);
}

TEST_F(SpectrumExperiment, KernelsComeNearTheirLimit) {
  const Finished done = run({"experiment", "lemmas", "--samples", "6", "--widths", "64,1024", "--seeds", "3", "--time",
                             "2", "--steps", "4", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  for (const char* activation : {"erf", "relu"}) {
    const auto& found = results[activation];
    // With six networks, slopes are uncertain by a few tenths.
    EXPECT_NEAR(found["start"]["slope"].get<double>(), -0.5, 0.4) << activation;
    EXPECT_LT(found["moved"]["slope"].get<double>(), -0.3) << activation;
    EXPECT_NEAR(found["distance"]["slope"].get<double>(), 0, 0.2) << activation;
  }
}

}  // namespace
}  // namespace widelimit::test
