#include "tests/app/data_experiment.hpp"
#include "tests/app/pages.hpp"
#include "tests/kernel/gram_file_fixture.hpp"
#include "tests/machine/elimination.hpp"

#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/preparation/preprocess.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/kernel/file/write_gram.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"

#include <fstream>
#include <iterator>

namespace widelimit::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class CntkExperiment : public DataExperiment {
 protected:
  void SetUp() override { need({"cifar10/cifar10-jpeg.tar.xz", "cifar10/data_batch_1.bin"}, "CIFAR-10"); }
};

/// A few images, about a second of computation.
Words few_images(const Words& more = {}) {
  Words words{"experiment",     "cntk-cifar10", "--train",       "60", "--test",          "50", "--depths",  "2,3",
              "--pooled-train", "20",           "--pooled-test", "8",  "--pooled-depths", "3",  "--further", "lenet5"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Images by definition: each channel minus its mean, divided by its standard deviation.
struct OwnImages {
  Dataset train, test;

  OwnImages() : train(limit_rows(load_data("cifar10:train"), 60)), test(limit_rows(load_data("cifar10:test"), 50)) {
    auto& x = std::get<Matrix<float>>(train.values);
    auto& y = std::get<Matrix<float>>(test.values);
    for (Index c = 0; c < 3; ++c) {
      double sum = 0;
      double squares = 0;
      each(x, c, [&](float& v) { sum += v; });
      const double mean = sum / (60 * 1024);
      each(x, c, [&](float& v) { squares += (v - mean) * (v - mean); });
      const double deviation = std::sqrt(squares / (60 * 1024));
      for (Matrix<float>* m : {&x, &y}) {
        each(*m, c, [&](float& v) { v = static_cast<float>((v - mean) / deviation); });
      }
    }
  }

 private:
  static void each(Matrix<float>& m, Index channel, const std::function<void(float&)>& use) {
    for (Index i = 0; i < m.rows(); ++i) {
      for (Index j = channel; j < m.cols(); j += 3) use(m(i, j));
    }
  }
};

/// Counts the test images that ridgeless regression classifies correctly, by Gaussian elimination: targets 0.9 and
/// −0.1, largest output.
Index correct_predictions(const OwnImages& images, const std::string& network, Index train, Index test) {
  const Network layers = Network::parse(network);
  const SampleView x = images.train.view().part(0, train);
  const SampleView y = images.test.view().part(0, test);
  const GramOptions options{.kind = Kind::ntk, .precision = Precision::f32};
  const auto k = std::get<Matrix<float>>(gram(layers, x, options, all_processors()).ntk);
  const auto k_test = std::get<Matrix<float>>(gram(layers, y, x, options, all_processors()).ntk);
  Rows a(usize(train));
  for (Index i = 0; i < train; ++i) a[usize(i)].assign(k.view().row(i), k.view().row(i) + train);
  std::vector<std::vector<Extended>> alpha;
  for (Index c = 0; c < 10; ++c) {
    std::vector<Extended> target;
    for (Index i = 0; i < train; ++i) target.push_back(images.train.labels[usize(i)] == c ? 0.9L : -0.1L);
    alpha.push_back(eliminate(a, target));
  }
  Index correct = 0;
  for (Index i = 0; i < test; ++i) {
    std::vector<Extended> g;
    for (const auto& one : alpha) {
      g.push_back(std::inner_product(one.begin(), one.end(), k_test.view().row(i), Extended{0}));
    }
    correct += std::max_element(g.begin(), g.end()) - g.begin() == images.test.labels[usize(i)] ? 1 : 0;
  }
  return correct;
}

/// Returns the results without timings.
Json without_times(Json json) {
  if (json.is_object()) {
    for (const char* time : {"seconds", "kernel_seconds"}) json.erase(time);
  }
  if (json.is_structured()) {
    for (auto& part : json) part = without_times(part);
  }
  return json;
}

TEST_F(CntkExperiment, IsThePublishedProtocol) {
  const Finished done = run(few_images({"--json", "--csv", "lines.csv"}));
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.record()["precision"], "f32");
  // A header, two vanilla kernels twice, a pooled and a further one.
  std::ifstream lines(folder.path("lines.csv"));
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(lines), {}, '\n'), 1 + 2 * 2 + 2);
  const auto results = done.record()["results"];
  const OwnImages images;
  // Depth 3 has two convolutions. The limit of the readout over all positions is a mean over equal positions.
  const std::string layer = "(w_std=1.4142135623730951)";
  const std::string two = "conv" + layer + " relu conv" + layer + " relu ";
  ASSERT_EQ(results["vanilla"].size(), 2U);
  const auto& vanilla = results["vanilla"][1];
  EXPECT_EQ(vanilla["depth"], 3);
  EXPECT_EQ(vanilla["regression"]["correct"], correct_predictions(images, two + "flatten dense" + layer, 60, 50));
  EXPECT_FALSE(vanilla.contains("published"));
  const auto& compared = results["compared"];
  ASSERT_EQ(compared.size(), 4U);
  EXPECT_EQ(compared[1]["regression"]["correct"], correct_predictions(images, two + "flatten dense" + layer, 20, 8));
  // First and last layer are frozen.
  const std::string frozen = "(w_std=1.4142135623730951, frozen=true)";
  EXPECT_EQ(compared[2]["kernel"], "pooled");
  EXPECT_EQ(compared[2]["regression"]["correct"],
            correct_predictions(images, "conv" + frozen + " relu conv" + layer + " relu global_avg_pool dense" + frozen,
                                20, 8));
  EXPECT_EQ(compared[3]["kernel"], "lenet5");
  for (const auto& row : compared) {
    for (const char* machine : {"regression", "ridge", "svm"}) {
      const double p = row[machine]["accuracy"];
      EXPECT_NEAR(row[machine]["standard_error"].get<double>(), std::sqrt(p * (1 - p) / 8), 1e-15);
    }
  }
  double before = -HUGE_VAL;
  for (const auto& image : results["hardest"]) {
    if (image["kernel"] != "vanilla") break;
    EXPECT_GE(image["margin"], before);
    EXPECT_NE(image["class"], image["taken_for"]);
    before = image["margin"];
    EXPECT_LT(before, 0);
  }
}

/// Computes the pooled kernel of few_images and stops after the first tile.
void begin_pooled(const std::filesystem::path& file) {
  DataRequest request{.train = "cifar10:train", .test = "cifar10:test"};
  request.limit = 60;
  request.test_limit = 50;
  request.scale = Scaling::channel;
  const TrainTest data = load_train_test(request);
  const SampleView x = data.train.view().part(0, 20);
  const std::vector<GramBlock> blocks{{"", x, std::nullopt}, {"test_", data.test->view().part(0, 8), x}};
  StopAfter progress(1);
  GramFileOptions options{.kind = Kind::ntk, .precision = Precision::f32};
  options.progress = &progress;
  const Network network = Network::parse("cntk:2(frozen_ends=true)");
  EXPECT_THROW((void)write_gram(file, {&network, 1}, blocks, options, all_processors()), Error);
}

TEST_F(CntkExperiment, StoppedItGoesOnToTheSameNumbers) {
  const Finished whole = run(few_images({"--json"}));
  ASSERT_EQ(whole.status, 0) << whole.err;
  const auto file = folder.path("grams") / "pooled-3-20-8-f32.h5";
  std::filesystem::create_directory(file.parent_path());
  begin_pooled(file);
  ASSERT_TRUE(std::filesystem::exists(part_of(file)));
  const Words kept = few_images({"--json", "--grams", "grams"});
  const Finished rest = run(kept);
  ASSERT_EQ(rest.status, 0) << rest.err;
  EXPECT_EQ(without_times(rest.record()["results"]), without_times(whole.record()["results"]));
  EXPECT_FALSE(std::filesystem::exists(part_of(file)));
  // Complete files are read instead of recomputed; files of another network are refused.
  const auto written = std::filesystem::last_write_time(file);
  Words other = few_images({"--grams", "grams"});
  std::replace(other.begin(), other.end(), std::string("lenet5"), std::string("lenet5(activation=erf)"));
  const Finished refused = run(other);
  EXPECT_EQ(refused.status, 2) << refused.err;
  EXPECT_NE(refused.err.find("further-1-20-8-f32.h5"), std::string::npos) << refused.err;
  EXPECT_EQ(std::filesystem::last_write_time(file), written);
}

TEST(Cntk, WrongWordsAreUsageBeforeTheWork) {
  const Folder folder;
  for (const Words& words :
       {Words{"--depths", "1"}, Words{"--depths", "3,,4"}, Words{"--pooled-depths", "2"}, Words{"--train", "10"},
        Words{"--pooled-train", "3000"}, Words{"--pooled-test", "0"}, Words{"--pooled-train", "10"}}) {
    Words all{"experiment", "cntk-cifar10"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished run = folder.widelimit(all);
    EXPECT_EQ(run.status, 2) << words[0] << ' ' << words[1] << ": " << run.err;
    EXPECT_NE(run.err.find(words[0]), std::string::npos) << run.err;
  }
  EXPECT_EQ(folder.widelimit({"experiment", "cntk-cifar10", "--further", "lenet5;nonet"}).status, 3);
  folder.write("file", "");
  const Finished no_folder = folder.widelimit({"experiment", "cntk-cifar10", "--grams", "file"});
  EXPECT_EQ(no_folder.status, 5) << no_folder.err;
}

TEST_F(CntkExperiment, HasAPageWithTheHardestImages) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  const Finished paged = run(few_images({"--report", "e.html"}));
  ASSERT_EQ(paged.status, 0) << paged.err;
  expect_page_opens(folder, "e.html", 3);
}

}  // namespace
}  // namespace widelimit::test
