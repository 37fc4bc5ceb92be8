#include "tests/app/data_experiment.hpp"
#include "tests/app/pages.hpp"

#include "widelimit/report/drawing/gnuplot.hpp"

#include <fstream>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words evolution_words(const Words& more) {
  Words words{"evolution", "--network", "fc:2", "--train", "digits", "--classes", "1,4,7", "--scale",
              "unit",      "--limit",   "60",   "--split", "0.8",    "--width",   "16",    "--epochs",
              "4",         "--batch",   "12",   "--probe", "9",      "--threads", "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(EvolutionVerb, TellsEveryCheckpoint) {
  const Folder folder;
  const Finished done = folder.widelimit(evolution_words({"--at-epochs", "1,2", "--json", "--out", "e.npz"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto record = done.record();
  const auto& results = record["results"];
  ASSERT_EQ(results["checkpoints"].size(), 4U);
  EXPECT_EQ(results["checkpoints"][3]["epoch"], 4.0);
  EXPECT_EQ(results["checkpoints"][0]["distance"], 0.0);
  EXPECT_EQ(results["checkpoints"][2]["distance"], results["distances"][0][2]);
  EXPECT_GT(results["checkpoints"][3]["distance"], 0.0);
  for (const char* name : {"velocity", "alignment", "sharpness", "moved_share", "gates_changed", "same_class",
                           "other_class", "elasticity", "accuracy", "test_accuracy", "largest_eigenvalue"}) {
    EXPECT_TRUE(results["checkpoints"][3].contains(name)) << name;
  }
  EXPECT_EQ(record["settings"]["probe"], 9);
  EXPECT_EQ(record["settings"]["at"].size(), 4U);
  EXPECT_TRUE(std::filesystem::exists(folder.path("e.npz")));
}

TEST(EvolutionVerb, BranchesAndSketches) {
  const Folder folder;
  const Finished done = folder.widelimit(
      evolution_words({"--checkpoints", "3", "--tangent", "--tangent-samples", "20", "--linearised", "--barriers",
                       "--branch-at", "0", "--projections", "16", "--outputs", "class", "--json"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  ASSERT_EQ(results["tangent"].size(), 1U);
  EXPECT_EQ(results["tangent"][0]["samples"], 20);
  EXPECT_TRUE(results["tangent"][0].contains("descent_test_accuracy"));
  ASSERT_EQ(results["barriers"].size(), 1U);
  EXPECT_EQ(results["barriers"][0]["test"]["errors"].size(), 11U);
  EXPECT_EQ(results["checkpoints"][1]["class_distances"].size(), 3U);
  EXPECT_GT(results["checkpoints"][1]["kernel_error"], 0.0);
  EXPECT_EQ(results["remarks"].size(), 1U);
}

TEST(EvolutionVerb, DrawsATimelineAndSlides) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot";
  const Folder folder;
  const Finished done = folder.widelimit(
      evolution_words({"--checkpoints", "3", "--barriers", "--barrier-points", "3", "--report", "page.html"}));
  ASSERT_EQ(done.status, 0) << done.err;
  std::ifstream page(folder.path("page.html"));
  const std::string html((std::istreambuf_iterator<char>(page)), {});
  EXPECT_NE(html.find("Kernel distance"), std::string::npos);
  EXPECT_NE(html.find("id=\"slides1-2\""), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_NE(html.find("Error barrier"), std::string::npos);
}

TEST(EvolutionVerb, RefusesWhatItCannotDo) {
  const Folder folder;
  const auto status = [&](const Words& more) { return folder.widelimit(evolution_words(more)).status; };
  EXPECT_EQ(status({"--probe", "1"}), 2);
  EXPECT_EQ(status({"--at", "3,99"}), 2);
  EXPECT_EQ(status({"--at", "3", "--at-epochs", "1"}), 2);
  EXPECT_EQ(status({"--batch", "0", "--barriers"}), 2);
  EXPECT_EQ(status({"--outputs", "none"}), 2);
  EXPECT_EQ(status({"--projections", "1"}), 2);
  EXPECT_EQ(status({"--branch-at", "0"}), 2);
  EXPECT_EQ(status({"--out", "e.csv"}), 2);
  EXPECT_EQ(status({"--rate", "1000"}), 4);
}

TEST(EvolutionExperiments, PhasesOfDeepNetworks) {
  const Folder folder;
  const Finished done = folder.widelimit({"experiment", "ntk-phases", "--variances", "1,3", "--shapes", "1", "--widths",
                                          "4,12", "--draws", "150", "--threads", "1", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto ratios = done.record()["results"]["ratios"];
  ASSERT_EQ(ratios.size(), 4U);
  const auto size = [&](std::size_t k) { return std::abs(ratios[k]["ratio"].get<double>()); };
  // Orders of magnitude: the change decreases with the width below variance 2, and increases above.
  EXPECT_LT(size(1), size(0) / 2);
  EXPECT_GT(size(3), size(2) * 2);
  EXPECT_EQ(folder.widelimit({"experiment", "ntk-phases", "--draws", "1"}).status, 2);
}

/// Two layers: K⁽³⁾ = 4‖x‖²f, E f² = σ⁴/2·‖x‖²/M and E Θ = σ²‖x‖² with ‖x‖² = M, so that the ratio is −2σ².
TEST(EvolutionExperiments, PhasesOfTwoLayersInClosedForm) {
  const Folder folder;
  const Finished done = folder.widelimit({"experiment", "ntk-phases", "--variances", "1,3", "--shapes", "0.25",
                                          "--widths", "8", "--draws", "600", "--threads", "1", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto record = done.record();
  ASSERT_EQ(record.at("results").at("ratios").size(), 2U);
  for (const auto& found : record.at("results").at("ratios")) {
    EXPECT_EQ(found["depth"], 2);
    const double error = found["error"];
    EXPECT_LT(error, 0.5);
    EXPECT_NEAR(found["ratio"].get<double>(), -2 * found["variance"].get<double>(), 4 * error);
  }
}

class MnistEvolution : public DataExperiment {
 protected:
  void SetUp() override { need({"mnist/train-images-idx3-ubyte.gz", "mnist/train-images-idx3-ubyte"}, "MNIST"); }
};

TEST_F(MnistEvolution, StructureByEpoch) {
  const Finished done = run({"experiment", "ntk-structure", "--samples", "60", "--tests", "20", "--depth", "3",
                             "--width", "20", "--probe", "2", "--epochs", "12", "--variances", "2", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto points = done.record()["results"]["variances"][0]["checkpoints"];
  ASSERT_EQ(points.size(), 4U);  // epochs 0, 1, 10 and 12
  EXPECT_EQ(points[2]["step"], 10);
  for (const auto& point : points) EXPECT_GT(point["same_class"], point["other_class"]);
}

class CifarEvolution : public DataExperiment {
 protected:
  void SetUp() override { need({"cifar10/cifar10-jpeg.tar.xz", "cifar10/data_batch_1.bin"}, "CIFAR-10"); }
};

TEST_F(CifarEvolution, TransientOfATinyNetwork) {
  const Finished done = run({"experiment",
                             "chaotic-transient",
                             "--cnn",
                             "conv(strides=4) relu flatten dense",
                             "--resnet",
                             "none",
                             "--width",
                             "2",
                             "--samples",
                             "20",
                             "--tests",
                             "10",
                             "--probe",
                             "10",
                             "--batch",
                             "5",
                             "--epochs",
                             "3",
                             "--at",
                             "0.5,1,2",
                             "--spawn",
                             "0,1",
                             "--tangent-samples",
                             "10",
                             "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto network = done.record()["results"]["networks"][0];
  EXPECT_EQ(network["checkpoints"].size(), 5U);
  EXPECT_EQ(network["tangent"].size(), 2U);
  EXPECT_EQ(network["barriers"].size(), 2U);
  EXPECT_TRUE(network.contains("velocity_after"));
}

}  // namespace
}  // namespace widelimit::test
