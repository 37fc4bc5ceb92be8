#include "tests/app/program.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words likelihood_words(const Words& more) {
  Words words{"likelihood", "--network", "fc:1", "--train", "digits", "--classes",
              "3,8",        "--limit",   "40",   "--scale", "unit",   "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Likelihood, IsThatOfTheFittedProcess) {
  const Folder folder;
  const Finished done = folder.widelimit(likelihood_words({"--noise", "0.05"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  const Finished fit =
      folder.widelimit({"fit",       "--network",   "fc:1",     "--kind", "nngp",    "--train", "digits",
                        "--classes", "3,8",         "--limit",  "40",     "--scale", "unit",    "--machine",
                        "ridge",     "--posterior", "--lambda", "0.1",    "--out",   "m.h5",    "--json"});
  ASSERT_EQ(fit.status, 0) << fit.err;
  const double expected = fit.record()["results"]["log_marginal_likelihood"];
  EXPECT_NEAR(results["log_marginal_likelihood"], expected, 1e-9 * std::abs(expected));
  EXPECT_EQ(results["gradient"]["b_std"], 0.0);
  EXPECT_EQ(results["summary"]["ending"], "converged");
}

TEST(Likelihood, SaysThatLabelsWithoutNoiseAreExact) {
  const Folder folder;
  const auto warns = [&](const Words& more) {
    const Finished done = folder.widelimit(likelihood_words(more));
    EXPECT_EQ(done.status, 0) << done.err;
    return done.err.find("labels are taken as exact") != std::string::npos;
  };
  EXPECT_TRUE(warns({}));
  EXPECT_FALSE(warns({"--quiet"}));
  EXPECT_FALSE(warns({"--noise", "0"}));
  EXPECT_FALSE(warns({"--optimise", "--starts", "1"}));
}

TEST(Likelihood, IsOptimisedOverItsParameters) {
  const Folder folder;
  const Finished done = folder.widelimit(likelihood_words({"--optimise", "--starts", "2", "--report", "page.html"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  ASSERT_EQ(results["starts"].size(), 2U);
  for (const auto& start : results["starts"]) {
    EXPECT_GE(start["log_marginal_likelihood"], start["from_log_marginal_likelihood"]);
    EXPECT_LE(start["log_marginal_likelihood"], results["log_marginal_likelihood"]);
  }
  EXPECT_EQ(results["lambda"], 2 * results["parameters"]["noise"].get<double>());
  EXPECT_LE(std::abs(results["gradient"]["noise"].get<double>()), 40e-6);
  EXPECT_EQ(folder.names(), Words{"page.html"});
  const std::string best = results["network"];
  const Finished again =
      folder.widelimit({"likelihood", "--network", best, "--train", "digits", "--classes", "3,8", "--limit", "40",
                        "--scale", "unit", "--json", "--noise", nlohmann::json(results["parameters"]["noise"]).dump()});
  EXPECT_NEAR(again.record()["results"]["log_marginal_likelihood"], results["log_marginal_likelihood"], 1e-9);
}

TEST(Likelihood, RefusesAndDiagnoses) {
  const Folder folder;
  EXPECT_EQ(folder.widelimit(likelihood_words({"--w-std", "2"})).status, 2);
  EXPECT_EQ(folder.widelimit(likelihood_words({"--kind", "nngp,ntk"})).status, 2);
  EXPECT_EQ(folder.widelimit(likelihood_words({"--precision", "f32"})).status, 2);
  EXPECT_EQ(folder.widelimit(likelihood_words({"--noise", "-1"})).status, 2);
  EXPECT_EQ(folder.widelimit(likelihood_words({"--optimise", "--starts", "0"})).status, 2);
  folder.write("twice.csv", "a,b,y\n1,0,1\n0,1,2\n1,0,1.5\n");
  const Finished singular =
      folder.widelimit({"likelihood", "--network", "fc:1", "--train", "twice.csv", "--label", "y", "--json"});
  EXPECT_EQ(singular.status, 4);
  EXPECT_NE(singular.err.find("leading minor of order 3"), std::string::npos) << singular.err;
  EXPECT_EQ(singular.record()["results"]["summary"]["ending"], "not positive definite");
}

TEST(Likelihood, CovarianceOfPredictionsGoesIntoAFile) {
  const Folder folder;
  const Words fit{"fit", "--network", "fc:1", "--train", "digits", "--limit", "40", "--machine", "ridge", "--out"};
  Words posterior = fit;
  posterior.insert(posterior.end(), {"gp.h5", "--posterior"});
  Words plain = fit;
  plain.emplace_back("plain.h5");
  ASSERT_EQ(folder.widelimit(posterior).status, 0);
  ASSERT_EQ(folder.widelimit(plain).status, 0);
  const auto predict = [&](const std::string& model, const std::string& file) {
    return folder.widelimit(
        {"predict", "--model", model, "--test", "digits", "--limit", "5", "--covariance", file, "--json"});
  };
  const Finished done = predict("gp.h5", "c.npz");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.record()["results"]["covariance"], "c.npz");
  EXPECT_TRUE(std::filesystem::exists(folder.path("c.npz")));
  EXPECT_EQ(predict("plain.h5", "d.npz").status, 2);
  EXPECT_EQ(predict("gp.h5", "d.txt").status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder.path("d.npz")));
}

}  // namespace
}  // namespace widelimit::test
