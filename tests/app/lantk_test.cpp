#include "tests/app/data_experiment.hpp"
#include "tests/app/pages.hpp"
#include "tests/machine/elimination.hpp"

#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/preparation/preprocess.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"

namespace widelimit::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class LantkExperiment : public DataExperiment {
 protected:
  void SetUp() override { need({"cifar10/cifar10-jpeg.tar.xz", "cifar10/data_batch_1.bin"}, "CIFAR-10"); }
};

/// Images by definition, (byte/255 − 0.5)/0.5; the stored images alternate between the classes.
Dataset own_images(const std::string& spec, const Words& classes, Index count) {
  Dataset all = load_data(spec);
  Dataset data = limit_rows(classes.empty() ? std::move(all) : select_classes(all, classes), count);
  auto& x = std::get<Matrix<float>>(data.values);
  for (Index i = 0; i < x.rows() * x.cols(); ++i) {
    x.data()[i] = static_cast<float>((static_cast<double>(x.data()[i]) / 255 - 0.5) / 0.5);
  }
  return data;
}

/// Layers 4 and 6 have stride 2; layer 7 has no activation.
const char* const eight_layers =
    "conv relu conv relu conv relu conv(strides=2) relu conv relu conv(strides=2) relu conv flatten dense";

struct OwnKernels {
  AnyMatrix k, k_test;
};
OwnKernels own_kernels(const Dataset& train, const Dataset& test) {
  const Network network = Network::parse(eight_layers);
  const GramOptions options{.kind = Kind::ntk, .precision = Precision::f32};
  return {gram(network, train.view(), options, all_processors()).ntk,
          gram(network, test.view(), train.view(), options, all_processors()).ntk};
}

/// Counts the test images that ridgeless regression classifies correctly, by Gaussian elimination: the class is that of
/// the largest output fitted to 1 and 0, for two classes the sign of the output fitted to ±1. A bias is an additional
/// unknown, with coefficients that sum to 0.
Index correct_by_elimination(const OwnKernels& kernels, const Dataset& train, const Dataset& test, bool bias = false) {
  const auto& k = std::get<Matrix<float>>(kernels.k);
  const auto& k_test = std::get<Matrix<float>>(kernels.k_test);
  Rows a(usize(k.rows()));
  for (Index i = 0; i < k.rows(); ++i) a[usize(i)].assign(k.view().row(i), k.view().row(i) + k.cols());
  if (bias) {
    for (auto& row : a) row.push_back(1);
    a.emplace_back(usize(k.rows()) + 1, Extended{1}).back() = 0;
  }
  std::vector<std::vector<Extended>> alpha;
  const bool two = train.class_names.size() == 2;
  for (Index c = two ? 1 : 0; c < std::ssize(train.class_names); ++c) {
    std::vector<Extended> target;
    for (const Index label : train.labels) target.push_back(label == c ? 1 : (two ? -1 : 0));
    if (bias) target.push_back(0);
    alpha.push_back(eliminate(a, target));
  }
  Index correct = 0;
  for (Index i = 0; i < k_test.rows(); ++i) {
    std::vector<Extended> g;
    for (const auto& one : alpha) {
      g.push_back(std::inner_product(k_test.view().row(i), k_test.view().row(i) + k_test.cols(), one.begin(),
                                     bias ? one.back() : Extended{0}));
    }
    const Index predicted = two ? (g[0] > 0 ? 1 : 0) : std::max_element(g.begin(), g.end()) - g.begin();
    correct += predicted == test.labels[usize(i)] ? 1 : 0;
  }
  return correct;
}

/// Returns the row of a kernel in a record.
Json row_of(const Json& task, const std::string& kernel) {
  for (const Json& row : task["rows"]) {
    if (row["kernel"] == kernel) return row;
  }
  return {};
}

const Words few{"--test", "30", "--channels", "2,2,2,2,2,2,2", "--epochs", "1", "--json"};

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(LantkExperiment, Table1IsThePublishedProtocol) {
  const Words words =
      joined({"experiment", "lantk-table1", "--pairs", "deer/dog", "--train", "40", "--ratio", "0.3"}, few);
  const Finished done = run(words);
  // At this ratio a label-aware kernel may have negative eigenvalues, which plain regression reports.
  ASSERT_TRUE(done.status == 0 || done.status == 4) << done.err;
  const Json task = done.record()["results"]["tasks"][0];
  const Dataset train = own_images("cifar10:train", {"deer", "dog"}, 40);
  const Dataset test = own_images("cifar10:test", {"deer", "dog"}, 30);
  OwnKernels kernels = own_kernels(train, test);
  EXPECT_EQ(row_of(task, "CNTK")["correct"], correct_by_elimination(kernels, train, test));
  EXPECT_EQ(row_of(task, "CNTK")["published"], 0.8515);
  EXPECT_EQ(row_of(task, "CNN")["published"], 0.89);
  EXPECT_EQ(row_of(task, "CNN")["steps"], 1);
  ASSERT_EQ(task["rows"].size(), 11U);
  EXPECT_EQ(row_of(task, "CNTK+bias")["correct"], correct_by_elimination(kernels, train, test, true));
  EXPECT_EQ(row_of(task, "CNTK+bias")["bias"], true);
  EXPECT_EQ(row_of(task, "CNTK")["bias"], false);
  const LabelAwareKernels made = make_label_aware(kernels.k, &kernels.k_test, {train.view(), test.view()}, train.labels,
                                                  2, {.ratio = 0.3}, all_processors());
  const Json linear = row_of(task, "linear1");
  // Images are scaled in another order of operations: a few rounding errors of float32.
  EXPECT_NEAR(linear["lambda"].get<double>(), made.aware.lambda, 1e-3 * made.aware.lambda);
  if (linear.contains("correct")) {
    EXPECT_EQ(linear["correct"], correct_by_elimination(kernels, train, test));
  }
  // Only some kernels, or only the network.
  const Json some = run(joined(words, {"--methods", "KR-V1,CNTK"})).record()["results"]["tasks"][0];
  ASSERT_EQ(some["rows"].size(), 3U);
  EXPECT_EQ(row_of(some, "KR-V1")["lambda"], row_of(task, "KR-V1")["lambda"]);
  const Json none = run(joined(words, {"--methods", "none"})).record()["results"]["tasks"][0];
  ASSERT_EQ(none["rows"].size(), 1U);
  EXPECT_EQ(row_of(none, "CNN")["correct"], row_of(task, "CNN")["correct"]);
  // Gram matrices are stored and read again.
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Finished kept = run(joined(words, {"--grams", "grams"}));
    EXPECT_EQ(row_of(kept.record()["results"]["tasks"][0], "KR-V1")["lambda"], row_of(task, "KR-V1")["lambda"]);
    EXPECT_TRUE(std::filesystem::exists(folder.path("grams") / "deer-dog-40-30-f32.h5"));
  }
}

TEST_F(LantkExperiment, Table2TakesCornersOfOneKernel) {
  const Finished done = run(joined({"experiment", "lantk-table2", "--train", "40,20"}, few));
  ASSERT_EQ(done.status, 0) << done.err;
  const Json tasks = done.record()["results"]["tasks"];
  ASSERT_EQ(tasks.size(), 2U);
  const Dataset test = own_images("cifar10:test", {}, 30);
  for (const Index size : {20, 40}) {
    const Json& task = tasks[size == 20 ? 0 : 1];
    EXPECT_EQ(task["task"], std::to_string(size));
    const Dataset train = own_images("cifar10:train", {}, size);
    EXPECT_EQ(row_of(task, "CNTK")["correct"], correct_by_elimination(own_kernels(train, test), train, test)) << size;
    EXPECT_FALSE(row_of(task, "CNTK").contains("published"));
  }
}

/// LA (9) by definition on the two-layer kernel, without pairs of a sample with itself.
double own_ratio(const Dataset& images) {
  const auto& x = std::get<Matrix<float>>(images.values);
  const Index n = x.rows();
  std::array<double, 2> sum{};
  std::array<double, 2> count{};
  const auto product = [&](Index i, Index j) {
    return std::inner_product(x.view().row(i), x.view().row(i) + x.cols(), x.view().row(j), 1.0);  // the constant
  };
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (i == j) continue;
      const double u = product(i, j) / std::sqrt(product(i, i) * product(j, j));
      const double angle = std::numbers::pi - std::acos(u);
      const double k = 2 * u * angle / (2 * std::numbers::pi) + std::sqrt(1 - u * u) / (2 * std::numbers::pi);
      const bool same = images.labels[usize(i)] == images.labels[usize(j)];
      sum[same ? 1 : 0] += k;
      count[same ? 1 : 0] += 1;
    }
  }
  const double same = sum[1] / count[1];
  return same / (same + sum[0] / count[0]);
}

TEST_F(LantkExperiment, Table3IsLocalElasticity) {
  const Finished done = run({"experiment", "lantk-table3", "--pairs", "frog/ship", "--train", "40", "--test", "20",
                             "--width", "16", "--epochs", "2", "--probe", "16", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const Json ratios = done.record()["results"]["ratios"];
  ASSERT_EQ(ratios.size(), 8U);
  for (const Json& entry : ratios) {
    EXPECT_GT(entry["ratio"], 0.4) << entry;
    EXPECT_TRUE(entry.contains("published")) << entry;
    if (entry["kernel"] == "NTK" && entry["pairs"] == "train-train") {
      EXPECT_NEAR(entry["ratio"].get<double>(), own_ratio(own_images("cifar10:train", {"frog", "ship"}, 40)), 1e-6);
    }
  }
}

TEST_F(LantkExperiment, Figure1ComparesLabelSystemsOnTheSameImages) {
  const Words words{"experiment", "la-figure1", "--pairs",  "frog/ship", "--train", "40", "--test",  "20",
                    "--width",    "16",         "--epochs", "2",         "--at",    "1",  "--probe", "20"};
  const Finished done = run(joined(words, {"--json"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const Json results = done.record()["results"];
  ASSERT_EQ(results["accuracies"][0].size(), 3U);
  const Json& systems = results["systems"];
  // With one network and one set of images, both systems are identical before training.
  EXPECT_EQ(systems[0][0]["elasticity"], systems[1][0]["elasticity_of_other_labels"]);
  EXPECT_EQ(systems[1][0]["elasticity"], systems[0][0]["elasticity_of_other_labels"]);
  EXPECT_NE(systems[0][2]["elasticity"], systems[1][2]["elasticity_of_other_labels"]);
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  ASSERT_EQ(run(joined(words, {"--report", "e.html"})).status, 0);
  expect_page_opens(folder, "e.html", 2);
}

TEST(Lantk, WrongWordsAreUsageBeforeTheWork) {
  const Folder folder;
  for (const Words& words :
       {Words{"lantk-table1", "--pairs", "deer"}, Words{"lantk-table1", "--channels", "1,2"},
        Words{"lantk-table1", "--methods", "KR-V3"}, Words{"lantk-table1", "--methods", "none", "--epochs", "0"},
        Words{"lantk-table2", "--train", "5"}, Words{"lantk-table3", "--probe", "1"},
        Words{"la-figure1", "--systems", "cat/dog"}, Words{"la-figure1", "--at", "11"},
        Words{"la-figure1", "--train", "10"}, Words{"nth-error", "--time", "0"}, Words{"hoeffding", "--shares", "2"}}) {
    const Finished run = folder.widelimit(joined({"experiment"}, words));
    EXPECT_EQ(run.status, 2) << words[0] << ' ' << words[1] << ": " << run.err;
    EXPECT_NE(run.err.find(words[1]), std::string::npos) << run.err;
  }
}

/// The widths differ by a factor of 8, so the errors differ by 8 for slope −1 and by 64 for slope −2. The threshold
/// −1.5 is safe: to cross it, the random scatter of the mean error would have to reach a factor of 3.
TEST(NthError, FallsAsTheSquareOfTheWidth) {
  const Folder folder;
  const Finished done = folder.widelimit({"experiment", "nth-error", "--samples", "4", "--tests", "2", "--widths",
                                          "32,256", "--seeds", "3", "--time", "0.3", "--tolerance", "1e-7", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const Json found = done.record()["results"]["approximations"];
  ASSERT_EQ(found.size(), 3U);
  EXPECT_LT(found[2]["slope"], -1.5) << found;
  EXPECT_GT(found[0]["slope"], -1.5) << found;
  for (std::size_t i = 0; i < 6; ++i) EXPECT_LT(found[2]["errors"][i], found[0]["errors"][i]);
  EXPECT_EQ(found[2]["interval"].size(), 2U);
}

/// Compares two independent computations of the same term, sums of n² numbers of size 1/n².
TEST(Hoeffding, OrdersAddUp) {
  const Folder folder;
  const Finished done = folder.widelimit({"experiment", "hoeffding", "--samples", "20", "--hierarchy-samples", "4",
                                          "--directions", "64", "--shares", "0.5,0.8", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const Json results = done.record()["results"];
  EXPECT_LT(results["largest_difference"], 1e-11);
  ASSERT_EQ(results["terms"].size(), 8U);
  for (const Json& term : results["terms"]) {
    const Json& orders = term["orders"];
    EXPECT_NEAR(orders[0].get<double>() + orders[1].get<double>() + orders[2].get<double>(),
                term["whole"].get<double>(), 1e-10 * (1 + std::abs(orders[0].get<double>())));
    EXPECT_EQ(orders[1] == 0.0, term["share"] == 0.5);
  }
}

}  // namespace
}  // namespace widelimit::test
