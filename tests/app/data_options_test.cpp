#include "tests/app/pages.hpp"
#include "tests/app/program.hpp"
#include "widelimit/base/matrix.hpp"
#include "widelimit/data/formats/npz.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

/// A table sorted by class, with an index, a text column and missing values.
std::string sorted_table() {
  std::string text = "id,a,colour,kind\n";
  for (int i = 0; i < 60; ++i) {
    text += fmt::format("{},{},{},{}\n", i, i % 13 == 5 ? "" : std::to_string(i % 20 + 30 * (i / 20)),
                        i % 3 == 0 ? "red" : "blue", i / 20 == 0 ? "x" : (i / 20 == 1 ? "y" : "z"));
  }
  return text;
}

Words fit_words(const Words& more) {
  Words words{"fit",   "--network", "fc:1(b_std=1)", "--train", "t.csv",    "--machine",
              "ridge", "--lambda",  "0.01",          "--scale", "standard", "--drop",
              "id",    "--missing", "median",        "--out",   "m.h5",     "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words predict_words(const std::string& test, const Words& more = {}) {
  Words words{"predict", "--model", "m.h5", "--test", test, "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool has_note(const nlohmann::json& record, std::string_view part) {
  for (const auto& note : record.value("notes", nlohmann::json::array())) {
    if (note.get<std::string>().find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(DataOptions, ASortedFileIsSplitIntoAllClasses) {
  const Folder folder;
  folder.write("t.csv", sorted_table());
  const Finished fit = folder.widelimit(fit_words({"--split", "0.8"}));
  ASSERT_EQ(fit.status, 0) << fit.err;
  const auto confusion = fit.record()["results"]["test"]["confusion"];
  ASSERT_EQ(confusion.size(), 3U);
  for (const auto& row : confusion) EXPECT_EQ(row[0].get<int>() + row[1].get<int>() + row[2].get<int>(), 4);
  EXPECT_FALSE(has_note(fit.record(), "class"));
  EXPECT_TRUE(has_note(fit.record(), "test samples equal a training sample")) << "rows with equal imputed values";

  const Finished ordered = folder.widelimit(fit_words({"--split", "0.8", "--split-order", "file"}));
  ASSERT_EQ(ordered.status, 0) << ordered.err;
  EXPECT_TRUE(has_note(ordered.record(), "no sample of class x, y")) << ordered.out;
  EXPECT_NE(ordered.err.find("note: t.csv: the test part of the split has no sample"), std::string::npos);
  EXPECT_EQ(folder.widelimit(fit_words({"--split", "0.8", "--split-order", "random"})).status, 2);
}

TEST(DataOptions, AModelFindsItsPartsAgain) {
  const Folder folder;
  folder.write("t.csv", sorted_table());
  const Finished fit = folder.widelimit(fit_words({"--split", "0.7", "--seed", "5"}));
  ASSERT_EQ(fit.status, 0) << fit.err;
  for (const char* part : {"train", "test"}) {
    const Finished told = folder.widelimit(predict_words("t.csv", {"--part", part}));
    ASSERT_EQ(told.status, 0) << told.err;
    EXPECT_EQ(told.record()["results"]["score"]["accuracy"], fit.record()["results"][part]["accuracy"]) << part;
    EXPECT_EQ(told.record()["settings"]["data"]["part"], part);
    EXPECT_EQ(told.record()["settings"]["data"]["test"], "t.csv");
    EXPECT_FALSE(told.record()["settings"]["data"].contains("train"));
  }
  const Finished all = folder.widelimit(predict_words("t.csv"));
  EXPECT_EQ(all.record()["results"]["samples"], 60);
  EXPECT_TRUE(has_note(all.record(), "trained on some of these")) << all.out;

  std::string other = sorted_table();
  other.replace(other.find("\n1,1,"), 5, "\n1,2,");
  folder.write("other.csv", other);
  const Finished refused = folder.widelimit(predict_words("other.csv", {"--part", "test"}));
  EXPECT_EQ(refused.status, 3);
  EXPECT_NE(refused.err.find("not the source"), std::string::npos) << refused.err;
  ASSERT_EQ(folder.widelimit(fit_words({})).status, 0);
  EXPECT_EQ(folder.widelimit(predict_words("t.csv", {"--part", "test"})).status, 2);
}

TEST(DataOptions, CertificatesAndNetworksKnowTheirPartsToo) {
  const Folder folder;
  const Words data{"--train", "digits", "--classes", "3,8", "--split", "0.9", "--limit", "60"};
  Words fit{"fit", "--network", "fc:1", "--machine", "ridge", "--lambda", "1", "--out", "m.h5"};
  fit.insert(fit.end(), data.begin(), data.end());
  ASSERT_EQ(folder.widelimit(fit).status, 0);
  const Finished certified = folder.widelimit({"certify", "--model", "m.h5", "--test", "digits", "--part", "test",
                                               "--limit", "3", "--radius", "0.001", "--json"});
  ASSERT_EQ(certified.status, 0) << certified.err;
  EXPECT_EQ(certified.record()["settings"]["data"]["part"], "test");
  Words train{"train", "--network", "fc:1", "--width", "16", "--steps", "3", "--rate", "0.001", "--out", "n.h5"};
  train.insert(train.end(), data.begin(), data.end());
  ASSERT_EQ(folder.widelimit(train).status, 0);
  const Finished told =
      folder.widelimit({"predict", "--model", "n.h5", "--test", "digits", "--part", "test", "--json"});
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_EQ(told.record()["results"]["samples"], 36);  // a tenth of 357
}

TEST(DataOptions, AKernelOfOtherRowsIsRefused) {
  const Folder folder;
  const Words data{"--network", "fc:1", "--train", "digits", "--split", "0.5", "--limit", "40", "--test-limit", "9"};
  Words kernel{"kernel", "--out", "k.h5"};
  kernel.insert(kernel.end(), data.begin(), data.end());
  ASSERT_EQ(folder.widelimit(kernel).status, 0);
  Words fit{"fit", "--machine", "ridge", "--gram", "k.h5", "--out", "m.h5"};
  fit.insert(fit.end(), data.begin(), data.end());
  const Finished same = folder.widelimit(fit);
  EXPECT_EQ(same.status, 0) << same.err;
  fit.insert(fit.end(), {"--seed", "1"});
  const Finished other = folder.widelimit(fit);
  EXPECT_EQ(other.status, 3);
  EXPECT_NE(other.err.find("kernel of other samples"), std::string::npos) << other.err;
}

TEST(DataOptions, NewTablesAreReadByTheModelsHeader) {
  const Folder folder;
  folder.write("t.csv", sorted_table());
  ASSERT_EQ(folder.widelimit(fit_words({})).status, 0);
  folder.write("new.csv", "colour,extra,a\nred,0,3\ngreen,0,\n");
  const Finished told = folder.widelimit(predict_words("new.csv"));
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_EQ(told.record()["results"]["classes"][0], "x");
  EXPECT_FALSE(told.record()["results"].contains("score"));
  for (const char* part : {"ignored: extra", "'green'"}) EXPECT_TRUE(has_note(told.record(), part)) << told.out;
  folder.write("short.csv", "colour,kind\nred,x\n");
  const Finished missing = folder.widelimit(predict_words("short.csv"));
  EXPECT_EQ(missing.status, 3);
  EXPECT_NE(missing.err.find("missing: a"), std::string::npos) << missing.err;
}

TEST(DataOptions, ErrorsNameTheOptionThatHelps) {
  const Folder folder;
  folder.write("t.csv", sorted_table());
  const Finished missing = folder.widelimit({"data", "show", "t.csv"});
  EXPECT_EQ(missing.status, 3);
  EXPECT_NE(missing.err.find("--missing"), std::string::npos) << missing.err;
  folder.write("mixed.csv", "a,b,y\n1,2,0\nx,3,1\n");
  const Finished mixed = folder.widelimit({"data", "show", "mixed.csv"});
  EXPECT_EQ(mixed.status, 3);
  EXPECT_NE(mixed.err.find("--drop"), std::string::npos) << mixed.err;
  EXPECT_EQ(folder.widelimit({"data", "show", "digits", "--drop", "a"}).status, 2);
  EXPECT_EQ(folder.widelimit({"data", "show", "digits", "--task", "guess"}).status, 2);
}

TEST(DataOptions, LabelsOfABuiltInSetCanBeLeftOut) {
  const Folder folder;
  const Words fit{"fit", "--network", "fc:1",  "--train", "digits", "--limit",
                  "100", "--machine", "ridge", "--out",   "m.h5"};
  Words unlabelled = fit;
  unlabelled.insert(unlabelled.end(), {"--label", "none"});
  const Finished refused = folder.widelimit(unlabelled);
  EXPECT_EQ(refused.status, 3);
  EXPECT_NE(refused.err.find("label"), std::string::npos) << refused.err;
  EXPECT_TRUE(folder.names().empty());
  ASSERT_EQ(folder.widelimit(fit).status, 0);
  const Finished predicted =
      folder.widelimit({"predict", "--model", "m.h5", "--test", "digits", "--limit", "5", "--label", "none", "--json"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  EXPECT_FALSE(predicted.record()["results"].contains("score"));
  EXPECT_EQ(folder.widelimit({"data", "show", "digits", "--label", "y"}).status, 2);
}

TEST(DataOptions, SeveralLabelsArePredictedTogether) {
  const Folder folder;
  std::string text = "y,a,b,z\n";
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("{},{},{},{}\n", 0.5 * (i % 7), i % 7, i % 5, i % 7 - 2.0 * (i % 5) + 0.25);
  }
  folder.write("s.csv", text);
  const Words words{"fit",   "--network", "fc:1(b_std=1)", "--train", "s.csv", "--machine",
                    "ridge", "--lambda",  "0.001",         "--split", "0.8",   "--json"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), words.begin(), words.end());
    return folder.widelimit(more);
  };
  const Finished both = with({"--label", "y,z", "--out", "m.h5"});
  ASSERT_EQ(both.status, 0) << both.err;
  const auto errors = both.record()["results"]["test"]["rmse"];
  EXPECT_EQ(errors.size(), 2U);
  EXPECT_LT(errors["y"], 0.1);
  EXPECT_LT(errors["z"], 0.1);

  // Each output equals that of a separate machine.
  const Finished single = with({"--label", "z", "--drop", "y", "--out", "z.h5"});
  ASSERT_EQ(single.status, 0) << single.err;
  folder.write("new.csv", "b,a\n2,3\n4,1\n");
  const auto two = folder.widelimit(predict_words("new.csv")).record()["results"]["scores"];
  const auto one = folder.widelimit({"predict", "--model", "z.h5", "--test", "new.csv", "--json"});
  ASSERT_EQ(one.status, 0) << one.err;
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(two[i].size(), 2U);
    EXPECT_NEAR(two[i][1].get<double>(), one.record()["results"]["scores"][i][0].get<double>(), 1e-9);
  }
  const Finished test = folder.widelimit(predict_words("s.csv", {"--part", "test"}));
  ASSERT_EQ(test.status, 0) << test.err;
  EXPECT_NEAR(test.record()["results"]["score"]["rmse"]["y"], errors["y"].get<double>(), 1e-9);
  EXPECT_EQ(folder.widelimit(predict_words("s.csv", {"--label", "z"})).status, 3);
  EXPECT_EQ(with({"--label", "y,z", "--out", "n.h5", "--task", "classification"}).status, 2);
  EXPECT_EQ(folder.widelimit({"tune", "--network", "fc:1", "--train", "s.csv", "--label", "y,z"}).status, 2);
  EXPECT_EQ(folder.widelimit({"train", "--network", "fc:1", "--train", "s.csv", "--label", "y,z"}).status, 2);
}

TEST(DataOptions, ShowTellsColumnsAndNotes) {
  const Folder folder;
  folder.write("t.csv", sorted_table());
  const Words words{"data", "show", "t.csv", "--missing", "drop", "--categorical", "id", "--columns", "id,colour"};
  const Finished text = folder.widelimit(words);
  ASSERT_EQ(text.status, 0) << text.err;
  for (const char* part : {"columns    2", "60 categories: 0, 1", "2 categories: blue, red"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << text.out;
  }
  EXPECT_NE(text.err.find("'id' has 60 different texts"), std::string::npos) << text.err;
  Words json = words;
  json.emplace_back("--json");
  const auto record = folder.widelimit(json).record();
  EXPECT_EQ(record["results"]["columns"][1]["categories"][1], "red");
  EXPECT_TRUE(has_note(record, "'id'"));
}

TEST(DataOptions, TestOfAFileWithBothPartsIsItsTestPart) {
  const Folder folder;
  const Matrix<double> train(6, 2);
  Matrix<double> test(3, 2);
  test(0, 0) = 7;
  const std::vector<std::int64_t> y{0, 1, 0, 1, 0, 1};
  const MatrixView<const std::int64_t> six{y.data(), 6, 1, 1};
  const MatrixView<const std::int64_t> three{y.data(), 3, 1, 1};
  write_npz(folder.path("both.npz"),
            {{"x_train", train.view(), {}}, {"y_train", six, {6}}, {"x_test", test.view(), {}}, {"y_test", three, {3}}},
            "");
  const Finished fit = folder.widelimit({"fit", "--classical", "rbf(gamma=1)", "--train", "both.npz", "--test",
                                         "both.npz", "--machine", "ridge", "--out", "m.h5", "--json"});
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_EQ(fit.record()["results"]["train"]["samples"], 6);
  EXPECT_EQ(fit.record()["results"]["test"]["samples"], 3);
  EXPECT_EQ(folder.widelimit(predict_words("both.npz")).record()["results"]["samples"], 3);
}

TEST(DataOptions, TasksAndClassesThatAreLeftOut) {
  const Folder folder;
  std::string ages = "a,age\n";
  for (int i = 0; i < 60; ++i) ages += fmt::format("{},{}\n", i, 20 + i % 30);
  folder.write("ages.csv", ages);
  const Words fit{"fit", "--network", "fc:1", "--train", "ages.csv", "--machine", "ridge", "--out", "m.h5", "--json"};
  const Finished guessed = folder.widelimit(fit);
  ASSERT_EQ(guessed.status, 0) << guessed.err;
  EXPECT_TRUE(has_note(guessed.record(), "(regression)"));
  EXPECT_TRUE(guessed.record()["results"]["train"].contains("squared_error"));
  Words asked = fit;
  asked.insert(asked.end(), {"--task", "classification"});
  EXPECT_TRUE(folder.widelimit(asked).record()["results"]["train"].contains("accuracy"));

  folder.write("t.csv", sorted_table());
  const Finished limited = folder.widelimit(fit_words({"--limit", "30"}));
  ASSERT_EQ(limited.status, 0) << limited.err;
  EXPECT_TRUE(has_note(limited.record(), "class z")) << limited.out;
}

TEST(DataOptions, NotesReachPages) {
  if (!gnuplot_is_present()) GTEST_SKIP() << "no gnuplot on PATH";
  const Folder folder;
  folder.write("t.csv", sorted_table());
  const Finished fit = folder.widelimit(fit_words({"--split", "0.8", "--split-order", "file", "--report", "p.html"}));
  ASSERT_EQ(fit.status, 0) << fit.err;
  std::ostringstream page;
  page << std::ifstream(folder.path("p.html")).rdbuf();
  EXPECT_NE(page.str().find("<h2>Notes</h2>\n<p>t.csv: the test part of the split has no sample of class x, y</p>"),
            std::string::npos);
}

TEST(DataOptions, PredictDoesNotOfferScale) {
  const Folder folder;
  for (const char* verb : {"predict", "certify"}) {
    const Finished help = folder.widelimit({verb, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.out.find("--scale"), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("--part"), std::string::npos) << help.out;
  }
}

}  // namespace
}  // namespace widelimit::test
