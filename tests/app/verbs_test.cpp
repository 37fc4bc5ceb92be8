#include "tests/app/pages.hpp"

#include "widelimit/network/network.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

nlohmann::json results(const Folder& folder, Words words) {
  words.push_back("--json");
  const Finished run = folder.widelimit(words);
  EXPECT_EQ(run.status, 0) << run.err;
  return run.record()["results"];
}

TEST(Doctor, NamesBackEndsAndData) {
  const auto found = results(Folder(), {"doctor"});
  EXPECT_EQ(found["backends"].size(), 4U);
  EXPECT_EQ(found["backends"][0]["back end"], "cpu");
  EXPECT_EQ(found["backends"][0]["present"], "yes");
  EXPECT_EQ(found["data"][0]["data"], "digits");
}

TEST(Data, ListAndShow) {
  const Folder folder;
  EXPECT_GE(results(folder, {"data", "list"})["sets"].size(), 5U);
  const auto shown = results(folder, {"data", "show", "digits", "--classes", "1,7"});
  EXPECT_EQ(shown["classes"].size(), 2U);
  EXPECT_EQ(shown["shape"], (std::vector<int>{8, 8, 1}));
}

TEST(Network, TextAndJsonAreTheSameNetwork) {
  const Folder folder;
  for (const std::string net :
       {"fc:3(w_std=1.4142)", "residual{ conv relu conv | conv(kernel=1) } global_avg_pool dense",
        "cntk:2(readout=flatten)"}) {
    const auto shown = results(folder, {"network", "show", net, "--input", "8x8x1"});
    EXPECT_EQ(Network::parse(shown["text"].get<std::string>()), Network::parse(net));
    EXPECT_EQ(Network::from_json(shown["json"]), Network::parse(net));
    const auto again = results(folder, {"network", "show", shown["json"].dump()});
    EXPECT_EQ(again["text"], shown["text"]);
    EXPECT_GT(shown["operations_per_pair"], 0.0);
    EXPECT_FALSE(shown["shapes"].empty());
  }
}

TEST(Network, SaysHowExactTheKernelIs) {
  const Folder folder;
  EXPECT_EQ(results(folder, {"network", "show", "fc:1"})["exactness"], "exact");
  EXPECT_EQ(results(folder, {"network", "show", "dense tanh dense"})["exactness"], "quadrature");
  EXPECT_EQ(results(folder, {"network", "show", "max_pool flatten dense", "--input", "8x8"})["exactness"],
            "monte-carlo");
  EXPECT_GE(results(folder, {"network", "list"})["presets"].size(), 5U);
}

TEST(Report, KernelPageOpens) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  const Folder folder;
  const auto found = results(folder, {"kernel", "--network", "fc:2", "--train", "digits", "--limit", "120", "--kind",
                                      "nngp,ntk", "--out", "k.npz", "--report", "r.html"});
  EXPECT_GT(found["analysis"]["ntk"]["alignment"], 0.0);
  expect_page_opens(folder, "r.html", 3);
}

TEST(Report, EveryVerbWritesOne) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  const Folder folder;
  for (Words words : {Words{"doctor"}, Words{"data", "list"}, Words{"data", "show", "digits"}, Words{"network", "list"},
                      Words{"network", "show", "fc:1", "--input", "8"}}) {
    words.insert(words.end(), {"--report", words.back() + ".html"});
    EXPECT_EQ(folder.widelimit(words).status, 0);
    EXPECT_TRUE(std::filesystem::exists(folder.path(words.back())));
  }
}

TEST(Demo, LastLineIsThePage) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  const Folder folder;
  const Finished run = folder.widelimit({"demo", "--out", "show"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(run.out.ends_with("\nshow/index.html\n")) << run.out;
  // Both machines classify held-out digits.
  EXPECT_TRUE(std::regex_search(run.out, std::regex("\nsvm .* folds .* 0\\.9[789]\\d* +converged\n"))) << run.out;
  EXPECT_TRUE(std::regex_search(run.out, std::regex("\nridge .* leave-one-out .* 0\\.9[789]\\d* +converged\n")))
      << run.out;
  // The convex relaxation certifies larger radii than the published method.
  EXPECT_TRUE(std::regex_search(run.out, std::regex("\npaper +0\\.0.*\ninterval +0\\.0.*\nconvex +0\\.[0-9]")))
      << run.out;
  expect_page_opens(folder, "show/index.html", 19);
}

}  // namespace
}  // namespace widelimit::test
