#include "tests/app/data_experiment.hpp"
#include "tests/app/pages.hpp"
#include "tests/paths.hpp"

#include "widelimit/report/drawing/gnuplot.hpp"

#include <fstream>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words small_machines(const Words& more) {
  Words words{"experiment", "mnist-machines", "--samples", "150", "--ten-samples", "200", "--threads", "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class MnistExperiment : public DataExperiment {
 protected:
  void SetUp() override { need({"mnist/train-images-idx3-ubyte.gz", "mnist/train-images-idx3-ubyte"}, "MNIST"); }
};

class UciExperiment : public DataExperiment {
 protected:
  void SetUp() override { need({"uci/folds.tar.xz"}, "partitions of UCI sets"); }
};

TEST_F(UciExperiment, GoesOnWithTheSetsOfAFile) {
  const auto with_networks = [&](const char* sets, const char* networks, const char* steps) {
    return run({"experiment", "uci-90", "--sets", sets, "--network-sets", networks, "--hidden", "1", "--widths", "64",
                "--steps", steps, "--csv", "sets.csv", "--json"});
  };
  const Finished two = with_networks("2", "0", "400");
  ASSERT_EQ(two.status, 0) << two.err;
  const auto before = two.record()["results"];
  ASSERT_EQ(before["sets"].size(), 2U);
  EXPECT_EQ(before["sets"][0]["set"], "trains");
  ASSERT_EQ(before["families"].size(), 6U);
  EXPECT_EQ(before["families"][0]["name"], "NTK");
  // The first two sets are read from the file, including their times; the third is computed.
  const Finished three = with_networks("3", "0", "400");
  ASSERT_EQ(three.status, 0) << three.err;
  const auto after = three.record()["results"]["sets"];
  ASSERT_EQ(after.size(), 3U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(after[i], before["sets"][i]);
  EXPECT_TRUE(after[0]["NN (He init)"].is_null());
  // Networks of the first two sets are kept as well; those of another grid are trained again.
  const auto trained = with_networks("3", "2", "400").record()["results"];
  ASSERT_EQ(trained["with_networks"]["families"].size(), 8U);
  EXPECT_EQ(trained["families"].size(), 6U);
  // A line separates the two classes on most rows: the accuracy is above chance on both sets.
  for (const char* kind : {"NN (He init)", "NN (NTK init)"}) {
    for (std::size_t i = 0; i < 2; ++i) EXPECT_GT(trained["sets"][i][kind], 60.0) << trained["sets"][i];
  }
  EXPECT_EQ(with_networks("3", "2", "400").record()["results"], trained);
  EXPECT_NE(with_networks("3", "2", "8").record()["results"]["sets"][0]["NN grid"], trained["sets"][0]["NN grid"]);
  EXPECT_EQ(with_networks("3", "1", "8").status, 2);
  EXPECT_EQ(run({"experiment", "uci-90", "--sets", "1"}).status, 2);
  EXPECT_EQ(run({"experiment", "uci-90", "--sets", "91"}).status, 3);
  folder.write("other.csv", "a,b\n1,2\n");
  EXPECT_EQ(run({"experiment", "uci-90", "--sets", "2", "--csv", "other.csv"}).status, 3);
}

class GraphExperiment : public DataExperiment {
 protected:
  void SetUp() override { need({"graphs/MUTAG/10fold_idx.tar.gz"}, "folds of MUTAG"); }
};

TEST_F(GraphExperiment, ReportsTheBestConfigurationBesideNestedSelection) {
  const Finished run =
      this->run({"experiment", "gntk", "--sets", "MUTAG", "--mlp", "2", "--cs", "3", "--csv", "all.csv", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto results = run.record()["results"];
  ASSERT_EQ(results["sets"].size(), 1U);
  const auto& set = results["sets"][0];
  EXPECT_EQ(set["published"], "90.0 ± 8.5");
  EXPECT_EQ(set["chosen"].size(), 10U);
  // The uniform kernel of two layers with C = 10⁴ reaches the published mean.
  EXPECT_EQ(set["best_configuration"], "gntk:2(mlp=2, scale=uniform), raw");
  // The relative duality gap is 1e-3: one graph of ten folds of 18 may be classified differently.
  EXPECT_NEAR(set["best"].get<double>(), 0.90, 1.0 / 180 + 1e-9);
  EXPECT_GT(set["nested"].get<double>(), 0.8);
  EXPECT_EQ(this->run({"experiment", "gntk", "--sets", "MUTAGEN"}).status, 2);
  EXPECT_EQ(this->run({"experiment", "gntk", "--nested", "maybe"}).status, 2);
  // Nothing is recomputed: even the seconds are read from the file.
  const Words again{"experiment", "gntk", "--sets", "MUTAG", "--mlp", "2", "--cs", "3", "--csv", "all.csv", "--json"};
  EXPECT_EQ(this->run(again).record()["timings"]["MUTAG"], run.record()["timings"]["MUTAG"]);
  // A run that was stopped after some kernels continues to the same accuracies.
  std::ifstream whole(folder.path("all.csv"));
  std::string some;
  std::string line;
  for (int lines = 0; lines < 1 + 3 * 3 && std::getline(whole, line); ++lines) some += line + '\n';
  folder.write("all.csv", some);
  EXPECT_EQ(this->run(again).record()["results"], results);
  folder.write("other.csv", "a,b\n1,2\n");
  EXPECT_EQ(this->run({"experiment", "gntk", "--sets", "MUTAG", "--csv", "other.csv"}).status, 3);
}

TEST_F(GraphExperiment, KeepsGramMatrices) {
  const Words words{"experiment", "gntk", "--sets",   "MUTAG", "--layers", "2",     "--mlp", "1",
                    "--cs",       "2",    "--nested", "no",    "--grams",  "grams", "--json"};
  const Finished first = run(words);
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_FALSE(first.record()["results"]["sets"][0].contains("nested"));
  const auto written = std::filesystem::last_write_time(folder.path("grams/MUTAG-2-1-degree-f64.h5"));
  const Finished second = run(words);
  ASSERT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(second.record()["results"], first.record()["results"]);
  EXPECT_EQ(std::filesystem::last_write_time(folder.path("grams/MUTAG-2-1-degree-f64.h5")), written);
}

TEST(Experiment, ListNamesWhatIsReproduced) {
  const Folder folder;
  const Finished run = folder.widelimit({"experiment", "list", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto experiments = run.record()["results"]["experiments"];
  ASSERT_GE(experiments.size(), 1U);
  for (const auto& one : experiments) {
    EXPECT_FALSE(one["does"].get<std::string>().empty());
    EXPECT_FALSE(one["reproduces"].get<std::string>().empty());
    const Finished help = folder.widelimit({"experiment", one["name"].get<std::string>(), "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("--full"), std::string::npos);
  }
}

TEST(Experiment, WrongWordsAndValuesAreUsage) {
  const Folder folder;
  const Finished unknown = folder.widelimit({"experiment", "mnist-machine"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("'mnist-machines'"), std::string::npos) << unknown.err;
  for (const Words& words : {Words{"--samples", "many"}, Words{"--samples", "1"}, Words{"--lambda", "-1"},
                             Words{"--lambda", "nan"}, Words{"--ten-samples", "5"}, Words{"--network", "nonet"}}) {
    const Finished run = folder.widelimit(small_machines(words));
    EXPECT_EQ(run.status, words[0] == "--network" ? 3 : 2) << words[1] << ": " << run.err;
  }
}

TEST(Experiment, MissingDataSayWhereTheyAreLookedFor) {
  const Folder folder;
  const Finished run = folder.run({"env", "WIDELIMIT_DATA=nowhere", "XDG_CACHE_HOME=" + folder.path("none").string(),
                                   program_path(), "experiment", "mnist-machines"});
  EXPECT_EQ(run.status, 3) << run.err;
  EXPECT_NE(run.err.find("nowhere"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("widelimit data fetch mnist\n"), std::string::npos) << run.err;
  EXPECT_TRUE(run.out.empty());
}

TEST_F(MnistExperiment, EveryMachineHasItsLine) {
  const Finished small = run(small_machines({"--json"}));
  ASSERT_EQ(small.status, 0) << small.err;
  const auto results = small.record()["results"];
  Words names;
  for (const auto& fit : results["two_digits"]["fits"]) {
    EXPECT_EQ(fit["summary"]["ending"], "converged") << fit;
    EXPECT_GT(fit["test"]["accuracy"], 0.9) << fit;
    EXPECT_EQ(fit["test"]["samples"], 2115);
    const auto name = fit["machine"].get<std::string>();
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  EXPECT_EQ(names, (Words{"regression", "ridge", "svm", "hard-svm", "svm2", "svr", "logistic"}));
  EXPECT_EQ(results["two_digits"]["fits"][0]["published"], 0.9995);
  ASSERT_EQ(results["ten_digits"]["fits"].size(), 2U);
  for (const auto& fit : results["ten_digits"]["fits"]) EXPECT_GT(fit["test"]["accuracy"], 0.6) << fit;
}

TEST(Experiment, NewWordsAreCheckedBeforeTheWork) {
  const Folder folder;
  for (const Words& words :
       {Words{"every-net-is-a-kernel-machine", "--halvings", "13"},
        Words{"every-net-is-a-kernel-machine", "--rate", "0"}, Words{"noisy-labels-rdi-aux", "--flips", "0,0.6"},
        Words{"noisy-labels-rdi-aux", "--flips", "0,,0.1"}, Words{"noisy-labels-rdi-aux", "--widths", "8.5"},
        Words{"noisy-labels-rdi-aux", "--digits", "5"}, Words{"noisy-labels-cnn", "--noise", "some"},
        Words{"noisy-labels-cnn", "--batch", "5000"}, Words{"noisy-labels-cnn", "--data", "iris"}}) {
    Words all{"experiment"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished run = folder.widelimit(all);
    EXPECT_EQ(run.status, 2) << words[1] << ' ' << words[2] << ": " << run.err;
    EXPECT_NE(run.err.find(words[1]), std::string::npos) << run.err;
  }
}

// Slopes use the smooth network: with so few units a single kink of a relu contributes visibly to the difference. At
// this learning rate the next order is a few per cent.
TEST_F(MnistExperiment, EveryNetIsAKernelMachineToFirstOrder) {
  const Finished small = run({"experiment", "every-net-is-a-kernel-machine", "--samples", "8", "--width", "16",
                              "--rate", "0.001", "--steps", "40", "--halvings", "2", "--threads", "1", "--json"});
  ASSERT_EQ(small.status, 0) << small.err;
  const auto results = small.record()["results"];
  for (const auto& slope : results["smooth"]["slopes"]) EXPECT_NEAR(slope.get<double>(), 1.0, 0.15);
  for (const char* name : {"network", "smooth"}) {
    ASSERT_EQ(results[name]["paths"].size(), 9U);
    for (const auto& path : results[name]["paths"]) {
      EXPECT_LT(path["difference"], 0.1 * path["moved"].get<double>()) << path;
    }
  }
}

// RDI at 2λ and AUX at λ have the same ridge limit: each is nearer to it than to 0, and the distance falls with the
// width.
TEST_F(MnistExperiment, NoisyLabelsLeadToRidgeRegression) {
  const Finished small = run({"experiment", "noisy-labels-rdi-aux", "--samples", "40", "--flips", "0,0.25", "--widths",
                              "32,512", "--lambda", "0.5", "--threads", "1", "--json"});
  ASSERT_EQ(small.status, 0) << small.err;
  const auto results = small.record()["results"];
  ASSERT_EQ(results["flips"].size(), 2U);
  EXPECT_EQ(results["flips"][0]["flipped"], 0);
  EXPECT_GT(results["flips"][1]["flipped"], 0);
  const auto distances = results["widths"]["distances"];
  for (const char* name : {"rdi", "aux"}) {
    EXPECT_LT(distances[1][name], 0.6 * distances[0][name].get<double>()) << distances;
    EXPECT_NEAR(results["flips"][0]["error"][name].get<double>(), results["flips"][0]["error"]["limit"].get<double>(),
                0.1);
  }
}

// Without noise every method learns; its curve has a point per epoch and starts at f − f₀ = 0.
TEST_F(MnistExperiment, SmallNetworksLearnTenDigits) {
  const Finished small = run({"experiment", "noisy-labels-cnn",
                              "--data",     "mnist",
                              "--shares",   "0,0.3",
                              "--noise",    "pair",
                              "--samples",  "100",
                              "--tests",    "100",
                              "--width",    "8",
                              "--epochs",   "6",
                              "--batch",    "20",
                              "--threads",  "1",
                              "--json"});
  ASSERT_EQ(small.status, 0) << small.err;
  const auto runs = small.record()["results"]["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]["wrong"], 0);
  EXPECT_NEAR(runs[1]["wrong"].get<double>(), 0.3, 0.2);  // five standard deviations for 100 samples; the seed is fixed
  EXPECT_GT(runs[0]["ridge"], 0.5);
  for (const auto& method : runs[0]["methods"]) {
    EXPECT_EQ(method["accuracy"].size(), 7U);
    EXPECT_GT(method["early"].get<double>(), 0.3) << method;
  }
}

TEST_F(MnistExperiment, NetworksApproachTheirMachine) {
  const Finished both = run({"experiment", "equivalence", "--samples", "16", "--sgd-samples", "80", "--sgd-tests", "10",
                             "--widths", "16,128", "--steps", "20", "--seeds", "2", "--threads", "1", "--json"});
  ASSERT_EQ(both.status, 0) << both.err;
  for (const char* part : {"rate_0.1", "rate_0.01", "stochastic"}) {
    EXPECT_LT(both.record()["results"][part]["slope"], 0) << part;
  }
  const Finished scaling = run({"experiment", "width-scaling", "--samples", "8", "--tests", "4", "--widths", "16,128",
                                "--steps", "20", "--seeds", "2", "--threads", "1", "--json"});
  ASSERT_EQ(scaling.status, 0) << scaling.err;
  const auto results = scaling.record()["results"];
  EXPECT_EQ(results["regularisers"].size(), 3U);
  EXPECT_EQ(results["losses"].size(), 5U);
  ASSERT_EQ(results["lambdas"].size(), 6U);
  EXPECT_LT(results["lambdas"][5]["final_difference"], results["lambdas"][0]["final_difference"]);
  EXPECT_LT(results["lambda_slope"]["slope"], 0);
  for (const auto& one : results["losses"]) EXPECT_LT(one["slope"], 0) << one;
  for (const char* wrong : {"", "8,", "8,x", "0"}) {
    EXPECT_EQ(run({"experiment", "width-scaling", "--widths", wrong}).status, 2) << wrong;
  }
}

TEST_F(MnistExperiment, BoundsAreLargerForRandomLabels) {
  const Finished done = run({"experiment", "generalisation-bounds", "--sizes", "60,400", "--net-sizes", "40", "--width",
                             "16", "--steps", "20", "--threads", "1", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  ASSERT_EQ(results["machines"].size(), 8U);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& true_labels = results["machines"][i];
    const auto& random = results["machines"][i + 4];
    EXPECT_EQ(random["labels"], "random");
    EXPECT_GE(true_labels["rademacher"]["uniform"]["value"], true_labels["test"]);
    EXPECT_GT(random["rademacher"]["uniform"]["value"], true_labels["rademacher"]["uniform"]["value"]);
  }
  EXPECT_LT(results["machines"][1]["rademacher"]["textbook"]["value"], 1);
  EXPECT_EQ(results["flipped"].size(), 4U);
  EXPECT_EQ(results["networks"].size(), 2U);
  EXPECT_FALSE(results["networks"][0]["rademacher"].contains("uniform"));
  EXPECT_EQ(run({"experiment", "generalisation-bounds", "--delta", "1"}).status, 2);
  EXPECT_EQ(run({"experiment", "generalisation-bounds", "--digits", "1"}).status, 2);
}

/// The radii of the methods are ordered, and all are below the attack; those of the SVM decrease during training.
TEST_F(MnistExperiment, CertificatesOfMachinesAreNestedBelowTheAttack) {
  const Finished done = run({"experiment", "certificates-table3", "--samples", "80", "--tests", "3", "--convex", "2",
                             "--attacks", "2", "--passes", "30,1", "--threads", "1", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  ASSERT_EQ(results["machines"].size(), 9U);
  for (const auto& machine : results["machines"]) {
    const auto& methods = machine["methods"];
    EXPECT_LE(methods[0]["mean"], methods[1]["mean"]);  // paper and interval on the same images
    EXPECT_LE(methods[3]["mean"], methods[4]["mean"]);  // convex without and with the box
    EXPECT_LE(machine["ratio"], 1);
  }
  ASSERT_EQ(results["descent"].size(), 2U);
  EXPECT_EQ(results["descent"][0]["passes"], 1);
  EXPECT_LT(results["descent"][1]["objective"], results["descent"][0]["objective"]);
  EXPECT_EQ(run({"experiment", "certificates-table3", "--passes", "0"}).status, 2);
}

TEST_F(MnistExperiment, CertificatesOfNetworksStandBesideTheirLimit) {
  const Finished done = run({"experiment", "certificates-table2", "--widths", "16,64", "--centred-widths", "16",
                             "--samples", "128", "--tests", "8", "--points", "4", "--threads", "1", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto rows = done.record()["results"]["rows"];
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0]["width"], "16");
  EXPECT_EQ(rows[2]["model"], "network, f - f0");
  for (const auto& row : rows) EXPECT_GT(row["all_mean"], 0) << row;
}

TEST_F(MnistExperiment, HasAPage) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  const Finished paged = run(small_machines({"--report", "e.html"}));
  ASSERT_EQ(paged.status, 0) << paged.err;
  EXPECT_NE(paged.out.find("99.95 %"), std::string::npos) << paged.out;
  expect_page_opens(folder, "e.html", 3);
}

}  // namespace
}  // namespace widelimit::test
