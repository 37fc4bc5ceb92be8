#include "tests/app/program.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

/// Writes 30 graphs: cycles and paths of the same sizes.
std::string cycles_and_paths() {
  std::string text = "30\n";
  for (int k = 0; k < 30; ++k) {
    const int n = 4 + k % 7;
    const bool cycle = k % 2 == 1;
    text += fmt::format("{} {}\n", n, cycle ? 1 : 0);
    for (int u = 0; u < n; ++u) {
      std::vector<int> near;
      if (u > 0) near.push_back(u - 1);
      if (u + 1 < n) near.push_back(u + 1);
      if (cycle && u == 0) near.push_back(n - 1);
      if (cycle && u == n - 1) near.insert(near.begin(), 0);
      text += fmt::format("{} {} {}\n", u % 3, near.size(), fmt::join(near, " "));
    }
  }
  return text;
}

const std::string graphs = "cycles.txt";

class GraphVerbs : public testing::Test {
 protected:
  GraphVerbs() { folder.write(graphs, cycles_and_paths()); }
  Finished run(const Words& words) const {
    const Finished done = folder.widelimit(words);
    EXPECT_EQ(done.status, 0) << done.err;
    return done;
  }
  Folder folder;
};

TEST_F(GraphVerbs, NetworkIsShown) {
  const Finished shown = run({"network", "show", "gntk:3(mlp=1)", "--input", "nodes"});
  EXPECT_NE(shown.out.find("residual{ global_sum_pool dense(w_std=1.4142135623730951) | aggregate"), std::string::npos)
      << shown.out;
  EXPECT_NE(shown.out.find("operations per pair of nodes"), std::string::npos) << shown.out;
  const auto shapes = run({"network", "show", "gntk:2", "--input", "nodesx7", "--json"}).record()["results"]["shapes"];
  EXPECT_EQ(shapes[2]["nodes"], true);
  EXPECT_FALSE(shapes.back().contains("nodes"));
}

/// A single graph may have only one tag: its features are built like those of the model, not from its own tags.
TEST_F(GraphVerbs, NewGraphsHaveTheTagsOfTheModel) {
  const std::string triangle = "3 0\n1 2 1 2\n1 2 0 2\n1 2 0 1\n";
  const std::string path = "3 1\n1 1 1\n2 2 0 2\n1 1 1\n";
  folder.write("both.txt", "2\n" + triangle + path);
  folder.write("one.txt", "1\n" + triangle);
  run({"fit", "--network", "gntk:3", "--train", "both.txt", "--machine", "ridge", "--lambda", "0.1", "--out", "t.h5"});
  const auto scores = [&](const std::string& model, const std::string& data) {
    run({"predict", "--model", model, "--test", data, "--out", "p.json"});
    return nlohmann::json::parse(std::ifstream(folder.path("p.json")));
  };
  EXPECT_EQ(scores("t.h5", "one.txt")[0], scores("t.h5", "both.txt")[0]);
  // With one tag in training the features are degrees, even if new graphs have several tags.
  folder.write("plain.txt", "2\n" + triangle + "3 1\n1 1 1\n1 2 0 2\n1 1 1\n");
  run({"fit", "--network", "gntk:3", "--train", "plain.txt", "--machine", "ridge", "--lambda", "0.1", "--out", "d.h5"});
  EXPECT_EQ(scores("d.h5", "both.txt"), scores("d.h5", "plain.txt"));
}

/// New graphs may have no labels, or labels that mean nothing to the model.
TEST_F(GraphVerbs, NewGraphsMayBeUnlabelled) {
  run({"fit", "--network", "gntk:2", "--train", graphs, "--machine", "svm", "--lambda", "0.01", "--out", "u.h5"});
  const auto predicted = [&](const std::string& triangle) {
    folder.write("new.txt", "1\n" + triangle + "\n1 2 1 2\n1 2 0 2\n1 2 0 1\n");
    const Finished done = run({"predict", "--model", "u.h5", "--test", "new.txt", "--label", "none", "--json"});
    EXPECT_FALSE(done.record()["results"].contains("score"));
    return done.record()["results"]["classes"];
  };
  const nlohmann::json classes = predicted("3 5");
  EXPECT_EQ(predicted("3"), classes);
  const Finished unnamed = folder.widelimit({"predict", "--model", "u.h5", "--test", "new.txt"});
  EXPECT_EQ(unnamed.status, 3);
  EXPECT_NE(unnamed.err.find("new.txt, line 2: the label of graph 0 is missing"), std::string::npos) << unnamed.err;
  EXPECT_NE(unnamed.err.find("(--label none)"), std::string::npos) << unnamed.err;
  EXPECT_NE(run({"data", "show", "new.txt", "--label", "none"}).out.find("unlabelled"), std::string::npos);
  const Finished others = folder.widelimit({"predict", "--model", "u.h5", "--test", "digits"});
  EXPECT_EQ(others.status, 3);
  EXPECT_NE(others.err.find("the model reads graphs"), std::string::npos) << others.err;
}

TEST_F(GraphVerbs, FitsPredictsAndTunes) {
  const Finished fit = run({"fit", "--network", "gntk:3", "--train", graphs, "--split", "0.8", "--machine", "svm",
                            "--lambda", "0.01", "--out", "m.h5", "--report", "fit.html", "--json"});
  EXPECT_EQ(fit.record()["results"]["train"]["accuracy"], 1);
  const auto told = run({"predict", "--model", "m.h5", "--test", graphs, "--part", "test", "--json"}).record();
  EXPECT_EQ(told["results"]["score"]["accuracy"], fit.record()["results"]["test"]["accuracy"]);
  run({"tune", "--network", "gntk:2", "--train", graphs, "--machine", "ridge", "--lambdas", "0.1,1"});
  const auto compared = run({"compare", "--train", graphs, "--folds", "2", "--json"}).record()["results"];
  EXPECT_EQ(compared["kernels"].size(), 3U);
  EXPECT_TRUE(compared["best"].get<std::string>().starts_with("gntk:"));
  run({"data", "show", graphs});
}

TEST_F(GraphVerbs, KernelsOfBothFiles) {
  run({"kernel", "--network", "gntk:2", "--train", graphs, "--kind", "ntk,nngp", "--out", "k.npz", "--report",
       "k.html"});
  run({"kernel", "--network", "gntk:2", "--train", graphs, "--out", "k.h5"});
  const Finished fit = run({"fit", "--network", "gntk:2", "--gram", "k.h5", "--train", graphs, "--machine", "svm",
                            "--lambda", "0.01", "--out", "g.h5", "--json"});
  EXPECT_EQ(fit.record()["results"]["train"]["accuracy"], 1);
}

TEST_F(GraphVerbs, RefusesWhatDoesNotFit) {
  const auto refusal = [&](const Words& words) {
    const Finished done = folder.widelimit(words);
    EXPECT_EQ(done.status, 3) << done.err;
    return done.err;
  };
  EXPECT_NE(refusal({"kernel", "--network", "gntk:2", "--train", "digits", "--out", "k.npz"}).find("graph"),
            std::string::npos);
  EXPECT_NE(refusal({"kernel", "--network", "fc:2", "--train", graphs, "--out", "k.npz"}).find("global_sum_pool"),
            std::string::npos);
  folder.write("loop.txt", "1\n2 0\n0 1 1\n0 1 1\n");
  EXPECT_NE(refusal({"kernel", "--network", "gntk:2", "--train", "loop.txt", "--out", "k.npz"}).find("node 1"),
            std::string::npos);
  folder.write("alone.txt", "2\n2 0\n0 1 1\n0 1 0\n1 0\n0 0\n");
  EXPECT_NE(refusal({"kernel", "--network", "gntk:2", "--train", "alone.txt", "--out", "k.npz"}).find("graph 1"),
            std::string::npos);
  const Finished scaled =
      folder.widelimit({"kernel", "--network", "gntk:2", "--train", graphs, "--scale", "unit", "--out", "k.npz"});
  EXPECT_EQ(scaled.status, 2) << scaled.err;
  const Finished trained = folder.widelimit({"train", "--network", "gntk:2", "--train", graphs, "--width", "8"});
  EXPECT_EQ(trained.status, 2) << trained.err;
  EXPECT_NE(trained.err.find("graphs"), std::string::npos) << trained.err;
}

}  // namespace
}  // namespace widelimit::test
