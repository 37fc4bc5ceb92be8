#include "tests/app/program.hpp"

#include "widelimit/data/formats/npz.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/request.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;
using Dims = std::vector<Index>;

/// Runs `kernel … --out k.npz --json`, which must succeed and print only its record.
nlohmann::json kernel(const Folder& folder, Words words) {
  words.insert(words.begin(), "kernel");
  if (std::find(words.begin(), words.end(), "--out") == words.end()) words.insert(words.end(), {"--out", "k.npz"});
  words.push_back("--json");
  const Finished run = folder.widelimit(words);
  EXPECT_EQ(run.status, 0) << run.err;
  return run.record();
}

template <typename T>
void expect_same(const AnyMatrix& a, const AnyMatrix& b) {
  const auto& left = std::get<Matrix<T>>(a);
  const auto& right = std::get<Matrix<T>>(b);
  ASSERT_EQ(left.rows() * left.cols(), right.rows() * right.cols());
  EXPECT_TRUE(std::equal(left.data(), left.data() + left.rows() * left.cols(), right.data()));
}

DataRequest digits(Index limit, Index test_limit) {
  DataRequest request{.train = "digits"};
  request.classes = {"3", "8"};
  request.scale = Scaling::unit;
  request.split = 0.5;
  request.limit = limit;
  request.test_limit = test_limit;
  return request;
}

const Words digits_words{"--train", "digits", "--classes", "3,8", "--scale",      "unit",
                         "--split", "0.5",    "--limit",   "37",  "--test-limit", "5"};

TEST(Kernel, FrozenLayersArePartOfTheNetwork) {
  const Folder folder;
  const Words data{"--train", "spirals", "--limit", "30"};
  const auto with = [&](Words words) {
    words.insert(words.end(), data.begin(), data.end());
    return words;
  };
  (void)kernel(folder, with({"--network", "fc:2", "--sweep", "--out", "s.npz"}));
  const auto record = kernel(folder, with({"--network", "fc:2(frozen=1)", "--out", "f.npz"}));
  EXPECT_EQ(record["settings"]["network"], "dense(frozen=true) relu dense relu dense");
  EXPECT_EQ(record["settings"]["network_json"][0][1]["frozen"], true);
  const auto sweep = read_npz_arrays(folder.path("s.npz")).arrays;
  const auto frozen = read_npz_arrays(folder.path("f.npz")).arrays;
  const auto& all = std::get<Matrix<double>>(sweep.at("sweep").values);
  const auto& one = std::get<Matrix<double>>(frozen.at("ntk").values);
  EXPECT_TRUE(std::equal(one.data(), one.data() + 900, all.data() + Index{2 * 3 + 1} * 900));
  const Finished zero =
      folder.widelimit(with({"kernel", "--network", "fc:1(frozen=2)", "--kind", "nngp,ntk", "--out", "z.npz"}));
  EXPECT_EQ(zero.status, 0);
  EXPECT_NE(zero.err.find("warning: no layer of 'dense(frozen=true) relu dense(frozen=true)' is trained"),
            std::string::npos)
      << zero.err;
  for (const char* verb : {"fit", "tune"}) {
    const Finished refused = folder.widelimit(with({verb, "--network", "fc:1(frozen=2)", "--out", "m.h5"}));
    EXPECT_EQ(refused.status, 3) << refused.err;
    EXPECT_NE(refused.err.find("NTK is 0"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(folder.widelimit(with({"fit", "--network", "fc:1(frozen=2)", "--kind", "nngp", "--out", "m.h5"})).status,
            0);
}

TEST(Kernel, FileHoldsWhatTheLibraryComputes) {
  const Folder folder;
  Words words = digits_words;
  words.insert(words.end(), {"--network", "fc:2", "--kind", "nngp,ntk"});
  const auto record = kernel(folder, words);
  const ArrayFile file = read_npz_arrays(folder.path("k.npz"));
  const TrainTest data = load_train_test(digits(37, 5));
  KernelRequest request{.kernel = Network::parse("fc:2")};
  request.kind = Kind::both;
  const KernelResult result = compute_kernel(request, data.train, data.test, *make_engine("cpu"));
  for (const NamedMatrix& matrix : result.matrices) {
    SCOPED_TRACE(matrix.name);
    ASSERT_EQ(file.arrays.count(matrix.name), 1U);
    expect_same<double>(file.arrays.at(matrix.name).values, matrix.values);
  }
  EXPECT_EQ(file.arrays.at("test_ntk").dims, (Dims{5, 37}));
  EXPECT_EQ(file.arrays.at("y").dims, (Dims{37}));
  EXPECT_EQ(file.arrays.at("y_test").dims, (Dims{5}));
  EXPECT_EQ(record["results"]["arrays"]["ntk"]["shape"], (Dims{37, 37}));
  EXPECT_EQ(record["results"]["file"], "k.npz");
  EXPECT_EQ(record["verb"], "kernel");
  EXPECT_EQ(record["backend"]["name"], "cpu");
}

TEST(Kernel, SettingsTravelInsideTheFile) {
  const Folder folder;
  kernel(folder, {"--network", "fc:1", "--train", "spirals", "--limit", "9", "--out", "k.h5", "--precision", "f32"});
  const ArrayFile file = read_hdf5_arrays(folder.path("k.h5"));
  const auto settings = nlohmann::json::parse(file.settings);
  EXPECT_EQ(Network::parse(settings["network"].get<std::string>()), Network::parse("fc:1"));
  EXPECT_EQ(Network::from_json(settings["network_json"]), Network::parse("fc:1"));
  EXPECT_EQ(settings["data"]["train"], "spirals");
  EXPECT_EQ(settings["data"]["limit"], 9);
  EXPECT_EQ(settings["precision"], "f32");
  EXPECT_EQ(settings["class_names"].size(), 2U);
  for (const char* key : {"widelimit", "backend", "seed", "route", "quadrature_error", "kind"}) {
    EXPECT_TRUE(settings.contains(key)) << key;
  }
  EXPECT_TRUE(std::holds_alternative<Matrix<float>>(file.arrays.at("ntk").values));
}

TEST(Kernel, SweepHasAMatrixForEveryDepthAndPrefix) {
  const Folder folder;
  const auto record = kernel(folder, {"--network", "fc:2", "--train", "spirals", "--limit", "7", "--sweep"});
  EXPECT_EQ(record["results"]["arrays"]["sweep"]["shape"], (Dims{3, 3, 7, 7}));
  EXPECT_EQ(read_npz_arrays(folder.path("k.npz")).arrays.at("sweep").dims, (Dims{3, 3, 7, 7}));
}

TEST(Kernel, LayersSumToTheTangentKernel) {
  const Folder folder;
  const Words words{"--network", "fc:2", "--train", "spirals", "--limit", "7"};
  kernel(folder, words);
  const ArrayFile gram = read_npz_arrays(folder.path("k.npz"));
  Words more = words;
  more.push_back("--layers");
  const auto record = kernel(folder, more);
  EXPECT_EQ(record["results"]["layers"].size(), 3U);
  const ArrayFile layers = read_npz_arrays(folder.path("k.npz"));
  ASSERT_EQ(layers.arrays.at("layer_ntk").dims, (Dims{3, 7, 7}));
  const double* sum = std::get<Matrix<double>>(gram.arrays.at("ntk").values).data();
  const double* part = std::get<Matrix<double>>(layers.arrays.at("layer_ntk").values).data();
  for (Index k = 0; k < 49; ++k) EXPECT_NEAR(part[k] + part[49 + k] + part[98 + k], sum[k], 1e-13);
}

TEST(Kernel, DiagonalAlone) {
  const Folder folder;
  kernel(folder, {"--network", "fc:2", "--train", "spirals", "--limit", "7", "--diagonal", "--kind", "nngp,ntk"});
  const ArrayFile file = read_npz_arrays(folder.path("k.npz"));
  EXPECT_EQ(file.arrays.at("diagonal_ntk").dims, (Dims{7}));
  EXPECT_EQ(file.arrays.at("diagonal_nngp").dims, (Dims{7}));
}

TEST(Kernel, AutoSamplesWhereThereIsNoFormula) {
  const Folder folder;
  const Words words{
      "--network", "conv relu max_pool flatten dense", "--train", "digits", "--limit", "4", "--width", "16", "--draws",
      "3"};
  const auto record = kernel(folder, words);
  EXPECT_EQ(record["results"]["monte_carlo"], true);
  EXPECT_NE(record["results"]["route"].get<std::string>().find("Monte Carlo"), std::string::npos);
  const ArrayFile file = read_npz_arrays(folder.path("k.npz"));
  EXPECT_EQ(file.arrays.at("ntk").dims, (Dims{4, 4}));
  EXPECT_EQ(file.arrays.at("ntk_error").dims, (Dims{4, 4}));
}

TEST(Kernel, QuadratureTellsItsError) {
  const Folder folder;
  const auto record =
      kernel(folder, {"--network", "dense tanh dense", "--train", "spirals", "--limit", "9", "--kind", "nngp"});
  EXPECT_GT(record["results"]["quadrature_error"], 0.0);
  EXPECT_LT(record["results"]["quadrature_error"], 1e-6);
}

TEST(Kernel, ClassicalForComparison) {
  const Folder folder;
  const auto record = kernel(folder, {"--classical", "rbf(gamma=0.5)", "--train", "spirals", "--limit", "9"});
  EXPECT_NEAR(record["results"]["arrays"]["kernel"]["trace"], 9.0, 1e-12);
  EXPECT_NE(record["settings"]["classical"].get<std::string>().find("rbf"), std::string::npos);
}

TEST(Kernel, QuietSaysNothingAndRouteGoesToStandardError) {
  const Folder folder;
  Words words{"kernel", "--network", "fc:1", "--train", "spirals", "--limit", "9", "--out", "k.npz"};
  const Finished verbose = folder.widelimit(words);
  EXPECT_NE(verbose.err.find("route: "), std::string::npos);
  EXPECT_NE(verbose.out.find("k.npz"), std::string::npos);
  words.push_back("--quiet");
  const Finished quiet = folder.widelimit(words);
  EXPECT_EQ(quiet.status, 0);
  EXPECT_TRUE(quiet.out.empty());
  EXPECT_TRUE(quiet.err.empty());
}

}  // namespace
}  // namespace widelimit::test
