#include "tests/app/program.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words ensemble_words(const Words& more) {
  Words words{"ensemble", "--network", "fc:2(b_std=0.2)", "--train", "digits", "--classes", "3,8", "--limit", "50",
              "--split",  "0.8",       "--scale",         "unit",    "--json", "--times"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(EnsembleVerb, TellsMeansAndDeviationsByTime) {
  const Folder folder;
  const Finished done = folder.widelimit(ensemble_words({"0,1,inf"}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto results = done.record()["results"];
  EXPECT_EQ(results["times"], (nlohmann::json{0, 1, "inf"}));
  ASSERT_EQ(results["mean"].size(), 3U);
  EXPECT_GT(results["mean"][0].size(), 0U);
  EXPECT_EQ(results["mean"][0].size(), results["std"][2].size());
  EXPECT_EQ(results["mean"][0][0][0], 0.0);
  EXPECT_GT(results["mean_std"][0], results["mean_std"][1]);
  EXPECT_GT(results["mean_std"][1], results["mean_std"][2]);
  EXPECT_GT(results["accuracy"][2], 0.8);
  EXPECT_TRUE(folder.names().empty());
}

TEST(EnsembleVerb, WritesFilesAndAPageOfBands) {
  const Folder folder;
  std::string line = "x,y\n";
  for (int i = 0; i < 9; ++i) line += std::to_string(i * 0.5) + "," + std::to_string(i % 3 * 0.7) + "\n";
  folder.write("line.csv", line);
  for (const std::string out : {"e.csv", "e.npz", "e.h5"}) {
    Words words{"ensemble", "--network", "fc:1(b_std=0.5)", "--train", "line.csv", "--label",  "y",
                "--times",  "0,2,inf",   "--out",           out,       "--json",   "--report", "page.html"};
    if (out != "e.csv") words.emplace_back("--covariance");
    const Finished done = folder.widelimit(words);
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.record()["results"]["file"], out);
    EXPECT_FALSE(done.record()["results"].contains("mean"));
    EXPECT_TRUE(done.record()["results"].contains("squared_error"));
  }
  std::ifstream file(folder.path("e.csv"));
  std::string row;
  std::getline(file, row);
  EXPECT_EQ(row, "time,sample,mean,std");
  int rows = 0;
  while (std::getline(file, row)) ++rows;
  EXPECT_EQ(rows, 27);
  std::ifstream page(folder.path("page.html"));
  const std::string html((std::istreambuf_iterator<char>(page)), {});
  EXPECT_NE(html.find("mean + 2 std"), std::string::npos);
}

TEST(EnsembleVerb, RefusesWhatItCannotDo) {
  const Folder folder;
  const auto status = [&](const Words& more) { return folder.widelimit(ensemble_words(more)).status; };
  EXPECT_EQ(status({"-1"}), 2);
  EXPECT_EQ(status({"1", "--lambda", "-1"}), 2);
  EXPECT_EQ(status({"1", "--kind", "both"}), 2);
  EXPECT_EQ(status({"1", "--covariance"}), 2);
  EXPECT_EQ(status({"1", "--covariance", "--out", "c.csv"}), 2);
  EXPECT_EQ(status({"1", "--out", "e.txt"}), 2);
  EXPECT_EQ(status({"1", "--memory", "10KB"}), 5);
}

}  // namespace
}  // namespace widelimit::test
