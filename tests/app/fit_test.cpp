#include "tests/app/program.hpp"
#include "widelimit/base/matrix.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words fit_words(const std::string& machine, const Words& more = {}) {
  Words words{"fit",     "--network", "fc:2",      "--train", "digits",   "--limit", "120",   "--split", "0.7",
              "--scale", "unit",      "--machine", machine,   "--lambda", "0.01",    "--out", "m.h5",    "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class Fits : public testing::TestWithParam<const char*> {};

TEST_P(Fits, TenDigitsAndPredictsThemFromItsFile) {
  const Folder folder;
  const Finished fit = folder.widelimit(fit_words(GetParam()));
  ASSERT_EQ(fit.status, 0) << fit.err;
  const auto record = fit.record();
  EXPECT_EQ(record["results"]["summary"]["ending"], "converged");
  EXPECT_GT(record["results"]["test"]["accuracy"], 0.6);
  EXPECT_EQ(folder.names(), (Words{"m.h5"}));

  // Predicts on the training samples, read from their source: the model scales them.
  const Finished told = folder.widelimit({"predict", "--model", "m.h5", "--test", "digits", "--part", "train",
                                          "--limit", "84", "--out", "p.csv", "--json"});
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_EQ(told.record()["results"]["score"]["samples"], 84);
  EXPECT_GT(told.record()["results"]["score"]["accuracy"], 0.9);
  EXPECT_EQ(folder.names(), (Words{"m.h5", "p.csv"}));
}

INSTANTIATE_TEST_SUITE_P(Machines, Fits, testing::Values("regression", "ridge", "hard-svm", "svm", "svm2", "logistic"));

TEST(Fit, ProbabilitiesTravelInTheModel) {
  const Folder folder;
  for (const char* scheme : {"one-vs-one", "one-vs-rest"}) {
    const Finished fit =
        folder.widelimit(fit_words("svm", {"--probability", "--classes", "1,3,8", "--scheme", scheme}));
    ASSERT_EQ(fit.status, 0) << fit.err;
    EXPECT_EQ(fit.record()["settings"]["probability"], true);
    const Words predict{"predict", "--model", "m.h5", "--test", "digits", "--classes", "1,3,8", "--limit", "60"};
    Words json = predict;
    json.emplace_back("--json");
    const Finished told = folder.widelimit(json);
    ASSERT_EQ(told.status, 0) << told.err;
    const auto results = told.record()["results"];
    int agree = 0;
    for (std::size_t i = 0; i < 60; ++i) {
      const auto row = results["probabilities"][i].get<std::vector<double>>();
      ASSERT_EQ(row.size(), 3U);
      EXPECT_NEAR(row[0] + row[1] + row[2], 1, 1e-12);
      const char* names[]{"1", "3", "8"};
      agree += results["classes"][i] == names[std::max_element(row.begin(), row.end()) - row.begin()] ? 1 : 0;
    }
    EXPECT_GE(agree, 57) << scheme;
    EXPECT_NE(folder.widelimit(predict).out.find("p(8)"), std::string::npos);
  }
  const Finished none = folder.widelimit(fit_words("ridge", {"--probability"}));
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("logistic has"), std::string::npos) << none.err;
}

TEST(Fit, AGaussianProcessKnowsHowSureItIs) {
  const Folder folder;
  std::string near = "x,y\n";
  for (int i = 0; i < 20; ++i) near += std::to_string(0.1 * i) + "," + std::to_string(std::sin(0.3 * i)) + "\n";
  folder.write("near.csv", near);
  folder.write("far.csv", "x,y\n0.95,0.1\n40,0.2\n");
  const Words words{"fit",   "--network", "fc:2(b_std=1)", "--kind",      "nngp",  "--train", "near.csv", "--machine",
                    "ridge", "--lambda",  "0.02",          "--posterior", "--out", "m.h5",    "--json"};
  const Finished fit = folder.widelimit(words);
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_TRUE(fit.record()["results"]["log_marginal_likelihood"].is_number());
  EXPECT_EQ(fit.record()["results"]["support"], 20);
  const Finished told = folder.widelimit({"predict", "--model", "m.h5", "--test", "far.csv", "--json"});
  ASSERT_EQ(told.status, 0) << told.err;
  const auto deviation = told.record()["results"]["std"].get<std::vector<double>>();
  ASSERT_EQ(deviation.size(), 2U);
  EXPECT_LT(deviation[0], 0.1);  // between samples, with noise 0.1
  EXPECT_GT(deviation[1], 0.3);
  for (const Words& wrong : {Words{"--bias"}, Words{"--solver", "cg"}}) {
    Words more = words;
    more.insert(more.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(folder.widelimit(more).status, 2);
  }
  EXPECT_EQ(folder.widelimit(fit_words("svm", {"--posterior"})).status, 2);
}

TEST(Fit, RidgeWithoutTheGramIsRidge) {
  const Folder folder;
  const Finished dense = folder.widelimit(fit_words("ridge"));
  const Finished cg = folder.widelimit(fit_words("ridge", {"--solver", "cg"}));
  ASSERT_EQ(cg.status, 0) << cg.err;
  const auto a = dense.record()["results"];
  const auto b = cg.record()["results"];
  EXPECT_NEAR(a["summary"]["primal"].get<double>(), b["summary"]["primal"].get<double>(), 1e-6);
  EXPECT_EQ(a["test"]["confusion"], b["test"]["confusion"]);
  EXPECT_EQ(a["train"]["confusion"], b["train"]["confusion"]);
  EXPECT_FALSE(b["residuals"].empty());
  EXPECT_EQ(folder.widelimit({"predict", "--model", "m.h5", "--test", "digits", "--limit", "9"}).status, 0);
  EXPECT_EQ(folder.widelimit(fit_words("svm", {"--solver", "cg"})).status, 2);
  EXPECT_EQ(folder.widelimit(fit_words("ridge", {"--solver", "qr"})).status, 2);
}

TEST(Fit, RidgeGoesWithoutTheGramWhereItDoesNotFit) {
  const Folder folder;
  const Words words{"fit",      "--network", "fc:1",  "--train", "digits", "--scale",  "unit", "--machine",   "ridge",
                    "--memory", "20MiB",     "--out", "m.h5",    "--json", "--lambda", "0.1",  "--precision", "f32"};
  const Finished fit = folder.widelimit(words);
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_NE(fit.err.find("--solver cg"), std::string::npos) << fit.err;
  EXPECT_NE(fit.record()["results"]["summary"]["method"].get<std::string>().find("conjugate"), std::string::npos);
  EXPECT_GT(fit.record()["results"]["train"]["accuracy"], 0.95);
}

TEST(Fit, TakesAKernelThatWasComputedBefore) {
  const Folder folder;
  const Words data{"--train", "digits", "--limit", "60", "--classes", "3,8"};
  Words kernel{"kernel", "--network", "fc:2", "--out", "k.h5"};
  kernel.insert(kernel.end(), data.begin(), data.end());
  ASSERT_EQ(folder.widelimit(kernel).status, 0);
  const auto fit = [&](const Words& more) {
    Words words{"fit", "--machine", "ridge", "--out", "m.h5", "--json"};
    words.insert(words.end(), data.begin(), data.end());
    words.insert(words.end(), more.begin(), more.end());
    return folder.widelimit(words);
  };
  const Finished with = fit({"--network", "fc:2", "--gram", "k.h5"});
  ASSERT_EQ(with.status, 0) << with.err;
  const Finished without = fit({"--network", "fc:2"});
  EXPECT_EQ(with.record()["results"]["summary"]["primal"], without.record()["results"]["summary"]["primal"]);

  const Finished read = fit({"--network", "fc:2", "--gram", "k.h5", "--solver", "cg"});
  ASSERT_EQ(read.status, 0) << read.err;
  EXPECT_NE(read.record()["results"]["summary"]["method"].get<std::string>().find("conjugate"), std::string::npos);
  EXPECT_NEAR(read.record()["results"]["summary"]["primal"].get<double>(),
              with.record()["results"]["summary"]["primal"].get<double>(), 1e-6);

  const Finished other = fit({"--network", "fc:3", "--gram", "k.h5"});
  EXPECT_EQ(other.status, 3);
  EXPECT_NE(other.err.find("not of"), std::string::npos) << other.err;
  const Finished fewer = fit({"--network", "fc:2", "--gram", "k.h5", "--limit", "50"});
  EXPECT_NE(fewer.status, 0);
}

TEST(Fit, ReadsAKernelForEachProductWhereItDoesNotFit) {
  const Folder folder;
  const Words data{"--network", "fc:1", "--train", "digits", "--limit", "400", "--memory", "2MiB"};
  Words kernel{"kernel", "--out", "k.h5"};
  kernel.insert(kernel.end(), data.begin(), data.end());
  ASSERT_EQ(folder.widelimit(kernel).status, 0);
  Words words{"fit", "--machine", "ridge", "--gram", "k.h5", "--out", "m.h5"};
  words.insert(words.end(), data.begin(), data.end());
  const Finished fit = folder.widelimit(words);
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_NE(fit.err.find("conjugate gradients that read its file"), std::string::npos) << fit.err;
}

TEST(Fit, NumbersByRegression) {
  const Folder folder;
  std::string table = "x,y\n";
  for (int i = 0; i < 30; ++i) table += std::to_string(0.1 * i) + "," + std::to_string(0.3 * i * i + 0.25) + "\n";
  folder.write("t.csv", table);
  for (const char* machine : {"ridge", "svr"}) {
    const Finished fit = folder.widelimit({"fit", "--network", "fc:2(b_std=1)", "--train", "t.csv", "--machine",
                                           machine, "--bias", "--lambda", "1e-4", "--out", "m.h5", "--json"});
    ASSERT_EQ(fit.status, 0) << fit.err;
    EXPECT_LT(fit.record()["results"]["train"]["squared_error"], 1) << machine;
    ASSERT_EQ(folder.widelimit({"predict", "--model", "m.h5", "--test", "t.csv"}).status, 0);
  }
  const Finished wrong =
      folder.widelimit({"fit", "--network", "fc:2(b_std=1)", "--train", "t.csv", "--machine", "svm", "--out", "n.h5"});
  EXPECT_EQ(wrong.status, 2) << wrong.err;
}

TEST(Fit, SaysWhatIsWrongAndLeavesNothing) {
  const Folder folder;
  const auto expect = [&](const Words& more, int status, const std::string& part) {
    Words words{"fit", "--train", "digits", "--limit", "40", "--out", "m.h5"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished run = folder.widelimit(words);
    EXPECT_EQ(run.status, status) << run.err;
    EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
    EXPECT_TRUE(folder.names().empty());
  };
  expect({"--network", "fc:2", "--machine", "swm"}, 2, "choose one of");
  expect({"--network", "fc:2", "--lambda", "-1"}, 2, "--lambda -1");
  expect({"--network", "fc:2", "--classes", "3"}, 3, "one class");
  expect({}, 2, "--network");
  expect({"--network", "fc:2", "--scheme", "softmax"}, 2, "one-vs-rest");
  expect({"--network", "fc:2", "--gram", "absent.h5"}, 3, "absent.h5");
}

TEST(Fit, HardMarginOfOppositeTwinsIsANumericalEnding) {
  const Folder folder;
  folder.write("t.csv", "1,2,a\n1,2,b\n3,1,a\n");
  const Finished hard =
      folder.widelimit({"fit", "--network", "fc:1", "--train", "t.csv", "--machine", "hard-svm", "--out", "m.h5"});
  EXPECT_EQ(hard.status, 4) << hard.err;
  EXPECT_NE(hard.err.find("separable"), std::string::npos) << hard.err;
  const Finished exact =
      folder.widelimit({"fit", "--network", "fc:1", "--train", "t.csv", "--machine", "regression", "--out", "m.h5"});
  EXPECT_EQ(exact.status, 4) << exact.err;
  EXPECT_EQ(folder.names(), (Words{"t.csv"}));
}

/// A kernel file written by another program.
TEST(Fit, KernelThatIsNotPositiveSemiDefiniteIsANumericalEnding) {
  const Folder folder;
  folder.write("t.csv", "1,2,a\n2,1,b\n3,1,a\n1,1,b\n");
  const double entries[]{2, 1, 1, 1, 1, 3, 1.5, 1, 1, 1.5, 4, 2, 1, 1, 2, 0.5};
  Matrix<double> k(4, 4);
  std::copy_n(entries, 16, k.data());
  write_hdf5(folder.path("k.h5"), {{"ntk", k.view(), {}}}, "{}");
  for (const char* machine : {"svm", "svm2", "hard-svm", "logistic"}) {
    const Finished run = folder.widelimit(
        {"fit", "--network", "fc:1", "--train", "t.csv", "--machine", machine, "--gram", "k.h5", "--out", "m.h5"});
    EXPECT_EQ(run.status, 4) << machine << run.err;
    EXPECT_NE(run.err.find("not positive definite: the Gram matrix has the negative eigenvalue"), std::string::npos)
        << run.err;
    EXPECT_NE(run.err.find("to its diagonal"), std::string::npos) << run.err;
  }
  EXPECT_EQ(folder.names(), (Words{"k.h5", "t.csv"}));
}

TEST(Tune, ChoosesALambdaAndADepth) {
  const Folder folder;
  const Words data{"--train", "digits", "--limit", "80", "--scale", "unit", "--lambdas", "1e-4,100", "--json"};
  const auto tune = [&](Words words) {
    words.insert(words.begin(), "tune");
    words.insert(words.end(), data.begin(), data.end());
    const Finished run = folder.widelimit(words);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.record()["results"];
  };
  const auto swept = tune({"--network", "fc:2", "--sweep"});
  EXPECT_EQ(swept["candidates"].size(), 6U);
  EXPECT_EQ(swept["method"], "leave-one-out");
  EXPECT_EQ(swept["best"]["lambda"], 1e-4);
  const auto folded = tune({"--network", "fc:2", "--network", "fc:1", "--machine", "svm"});
  EXPECT_EQ(folded["candidates"].size(), 2U);
  EXPECT_EQ(folded["best"]["lambda"], 1e-4);
  EXPECT_EQ(folder.widelimit({"tune", "--network", "fc:2", "--train", "digits", "--lambdas", "0"}).status, 2);
  EXPECT_EQ(folder.widelimit({"tune", "--network", "fc:2", "--train", "digits", "--folds", "1"}).status, 2);
  // A sweep supports only tangent kernels.
  for (const char* kind : {"nngp", "both"}) {
    EXPECT_EQ(folder.widelimit({"tune", "--network", "fc:2", "--sweep", "--kind", kind, "--train", "digits"}).status,
              2);
  }
}

TEST(Tune, TakesTheFoldsOfAFile) {
  const Folder folder;
  folder.write("t.csv", "0,1,a\n1,0,b\n0,2,a\n2,0,b\n0,3,a\n3,0,b\n");
  folder.write("folds.txt", "0 1 2 3\n4 5\n2 3 4 5\n0\n");
  const Words words{"tune", "--network", "fc:1", "--machine", "svm", "--train", "t.csv", "--lambdas", "0.1", "--json"};
  const auto with = [&](const Words& more) {
    Words all = words;
    all.insert(all.end(), more.begin(), more.end());
    return folder.widelimit(all);
  };
  const Finished run = with({"--folds", "folds.txt"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.record()["settings"]["folds"], "folds.txt");
  EXPECT_EQ(run.record()["results"]["method"], "the folds of folds.txt");
  EXPECT_EQ(run.record()["results"]["best"]["error"], 0.0);
  EXPECT_NE(run.err.find("no fold tests 3 rows of 6"), std::string::npos) << run.err;
  EXPECT_EQ(with({"--folds", "folds.txt", "--shuffle", "1"}).status, 2);
  EXPECT_EQ(with({"--folds", "absent.txt"}).status, 3);
  for (const char* folds : {"-3", "0", "1", "2.5", ""}) {
    const Finished refused = with({"--folds", folds});
    EXPECT_EQ(refused.status, 2) << folds;
    EXPECT_NE(refused.err.find("give a number of folds >= 2, or a file"), std::string::npos) << refused.err;
  }
  folder.write("folds.txt", "0 1 2 3\n4 6\n");
  EXPECT_EQ(with({"--folds", "folds.txt"}).status, 3);
}

TEST(Predict, RefusesOtherFeaturesAndDamagedModels) {
  const Folder folder;
  ASSERT_EQ(folder.widelimit(fit_words("svm")).status, 0);
  const auto predict = [&](const Words& more) {
    Words words{"predict", "--model", "m.h5"};
    words.insert(words.end(), more.begin(), more.end());
    return folder.widelimit(words);
  };
  EXPECT_EQ(predict({"--test", "spirals"}).status, 3);
  EXPECT_EQ(predict({"--test", "digits", "--scale", "unit"}).status, 2);
  folder.write("m.h5", "not a model");
  EXPECT_EQ(predict({"--test", "digits"}).status, 3);
}

}  // namespace
}  // namespace widelimit::test
