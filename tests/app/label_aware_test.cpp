#include "tests/app/program.hpp"

#include "widelimit/data/formats/npz.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/model_file.hpp"

#include <gtest/gtest.h>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

const Words eights{"--network", "fc:1",    "--train", "digits",  "--classes", "3,8",          "--scale",
                   "unit",      "--split", "0.5",     "--limit", "60",        "--test-limit", "20"};

Words digits_with(Words words, const Words& more = eights) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(LabelAwareProgram, KernelWritesWhatTheLibraryMakes) {
  const Folder folder;
  const Finished run = folder.widelimit(
      digits_with({"kernel", "--label-aware", "linear1", "--ratio", "0.2", "--out", "k.npz", "--json"}));
  ASSERT_EQ(run.status, 0) << run.err;
  const nlohmann::json made = run.record()["results"]["label_aware"];
  EXPECT_EQ(made["method"], "linear1");
  EXPECT_EQ(made["target"], "signed");
  EXPECT_GT(made["inertia"]["negative"], 0);
  EXPECT_TRUE(made["coefficients"].contains("cosine"));

  DataRequest request{.train = "digits"};
  request.classes = {"3", "8"};
  request.scale = Scaling::unit;
  request.split = 0.5;
  request.limit = 60;
  request.test_limit = 20;
  const TrainTest data = load_train_test(request);
  const auto engine = make_engine("cpu");
  KernelResult answer = compute_kernel({.kernel = Network::parse("fc:1")}, data.train, data.test, *engine);
  const LabelAwareKernels expected =
      make_label_aware(answer.matrices[0].values, &answer.matrices[1].values, {data.train.view(), data.test->view()},
                       data.train.labels, 2, {.ratio = 0.2}, *engine);
  EXPECT_EQ(made["lambda"], expected.aware.lambda);
  const ArrayFile file = read_npz_arrays(folder.path("k.npz"));
  const auto same = [](const AnyMatrix& a, const AnyMatrix& b) {
    const auto& left = std::get<Matrix<double>>(a);
    const auto& right = std::get<Matrix<double>>(b);
    return std::equal(left.data(), left.data() + left.rows() * left.cols(), right.data());
  };
  EXPECT_TRUE(same(file.arrays.at("label_aware").values, answer.matrices[0].values));
  EXPECT_TRUE(same(file.arrays.at("test_label_aware").values, answer.matrices[1].values));
  EXPECT_FALSE(file.arrays.contains("ntk"));
}

/// From a stored kernel into a file: bit for bit the result in memory; a second run finds the file complete.
TEST(LabelAwareProgram, KernelGoesFromFileToFile) {
  const Folder folder;
  const Finished held =
      folder.widelimit(digits_with({"kernel", "--label-aware", "linear2", "--out", "held.h5", "--json"}));
  ASSERT_EQ(held.status, 0) << held.err;
  ASSERT_EQ(folder.widelimit(digits_with({"kernel", "--out", "theta.h5"})).status, 0);
  const Words stored = digits_with({"kernel", "--label-aware", "linear2", "--gram", "theta.h5", "--out", "k.h5"});
  Words with_json = stored;
  with_json.emplace_back("--json");
  const Finished run = folder.widelimit(with_json);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.record()["results"]["label_aware"]["lambda"], held.record()["results"]["label_aware"]["lambda"]);
  for (const char* name : {"label_aware", "test_label_aware"}) {
    for (const char* fact : {"shape", "smallest", "largest"}) {
      EXPECT_EQ(run.record()["results"]["arrays"][name][fact], held.record()["results"]["arrays"][name][fact]);
    }
  }
  Words again = with_json;
  again.emplace_back("--resume");
  EXPECT_EQ(folder.widelimit(again).record()["results"]["complete_before"], true);
  // The kernel of another network, a repair of the spectrum, and no output file.
  Words other = stored;
  *std::find(other.begin(), other.end(), "fc:1") = "fc:2";
  EXPECT_EQ(folder.widelimit(other).status, 3);
  for (const Words& more : {Words{"--psd", "clip"}, Words{"--report", "page.html"}}) {
    Words refused = stored;
    refused.insert(refused.end(), more.begin(), more.end());
    EXPECT_NE(folder.widelimit(refused).status, 0);
  }
  EXPECT_NE(folder.widelimit(digits_with({"kernel", "--gram", "theta.h5", "--out", "k2.h5"})).status, 0);
}

TEST(LabelAwareProgram, ModelsPredictAsTheyWereFitted) {
  const Folder folder;
  const Finished fit =
      folder.widelimit(digits_with({"fit", "--machine", "svm", "--label-aware", "linear2", "--out", "m.h5", "--json"}));
  ASSERT_EQ(fit.status, 0) << fit.err;
  const nlohmann::json results = fit.record()["results"];
  EXPECT_EQ(results["label_aware"]["psd"], "clip");
  EXPECT_EQ(fit.record()["settings"]["label_aware"]["method"], "linear2");
  const Finished predict =
      folder.widelimit({"predict", "--model", "m.h5", "--test", "digits", "--part", "test", "--limit", "20", "--json"});
  ASSERT_EQ(predict.status, 0) << predict.err;
  EXPECT_EQ(predict.record()["results"]["score"]["accuracy"], results["test"]["accuracy"]);
  for (const Words& words : {Words{"certify", "--model", "m.h5", "--test", "digits", "--part", "test", "--limit", "2"},
                             Words{"bound", "--model", "m.h5", "--train", "digits", "--classes", "3,8"}}) {
    const Finished refused = folder.widelimit(words);
    EXPECT_EQ(refused.status, 3) << refused.err;
    EXPECT_NE(refused.err.find("label-aware"), std::string::npos) << refused.err;
  }
}

/// The program cannot supply the pair features that a model needs.
TEST(LabelAwareProgram, PredictNamesThePairFeaturesOfACaller) {
  const Folder folder;
  const Words fit = digits_with({"fit", "--machine", "ridge", "--label-aware", "linear1", "--out", "m.h5"});
  ASSERT_EQ(folder.widelimit(fit).status, 0);
  Model model = load_model(folder.path("m.h5"));
  auto& regression = std::get<PairRegression>(model.label_aware->estimate);
  regression.coefficients.insert(regression.coefficients.end(), {1, 2});
  regression.own = {"overlap", "f2"};
  save_model(folder.path("own.h5"), model);
  const Finished run = folder.widelimit({"predict", "--model", "own.h5", "--test", "digits", "--part", "test"});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("2 user-supplied pair features ('overlap', 'f2'); pass the same functions for prediction"),
            std::string::npos)
      << run.err;
}

TEST(LabelAwareProgram, TuneTakesFoldsForRidgeToo) {
  const Folder folder;
  const Finished run =
      folder.widelimit({"tune", "--network", "fc:1", "--train", "digits", "--limit", "80", "--scale", "unit",
                        "--machine", "ridge", "--lambdas", "0.1,1", "--label-aware", "kr1", "--folds", "4", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.record()["results"]["method"], "4 folds");
  EXPECT_EQ(run.record()["settings"]["label_aware"]["method"], "kr1");
}

TEST(LabelAwareProgram, RefusesContradictions) {
  const Folder folder;
  const auto status = [&](const Words& words) {
    const Finished run = folder.widelimit(words);
    EXPECT_FALSE(run.err.empty());
    return run.status;
  };
  EXPECT_EQ(status(digits_with({"kernel", "--ratio", "0.2", "--out", "k.npz"})), 2);
  EXPECT_EQ(status(digits_with({"kernel", "--label-aware", "linear3", "--out", "k.npz"})), 2);
  EXPECT_EQ(status(digits_with({"kernel", "--label-aware", "kr1", "--sweep", "--out", "k.npz"})), 2);
  EXPECT_EQ(status(digits_with({"kernel", "--label-aware", "kr1", "--kind", "nngp,ntk", "--out", "k.npz"})), 2);
  EXPECT_EQ(status(digits_with({"kernel", "--label-aware", "linear1", "--psd", "refuse", "--out", "k.npz"})), 4);
  EXPECT_EQ(status(digits_with({"fit", "--label-aware", "kr1", "--machine", "ridge", "--posterior", "--out", "m.h5"})),
            2);
  EXPECT_EQ(status(digits_with({"fit", "--label-aware", "kr1", "--machine", "svm", "--probability", "--out", "m.h5"})),
            2);
  // A label-aware kernel is refused as the kernel of the network.
  ASSERT_EQ(folder.widelimit(digits_with({"kernel", "--label-aware", "kr1", "--out", "k.h5"})).status, 0);
  EXPECT_EQ(status(digits_with({"fit", "--machine", "ridge", "--gram", "k.h5", "--out", "m.h5"})), 3);
}

}  // namespace
}  // namespace widelimit::test
