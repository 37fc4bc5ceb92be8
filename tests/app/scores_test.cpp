#include "tests/app/program.hpp"
#include "widelimit/data/formats/npz.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words fit_three{"fit", "--network", "fc:1", "--train", "digits", "--classes", "1,3,8", "--limit",
                      "90",  "--split",   "0.7",  "--scale", "unit",   "--lambda",  "0.01"};

std::string text_of(const Folder& folder, const std::string& name) {
  std::ifstream file(folder.path(name));
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FitScores, OfClassesAreInTheRecordAndInTheText) {
  const Folder folder;
  const Words words = joined(fit_three, {"--machine", "logistic", "--out", "m.h5"});
  const Finished run = folder.widelimit(joined(words, {"--json"}));
  ASSERT_EQ(run.status, 0) << run.err;
  const auto test = run.record()["results"]["test"];
  for (const char* name : {"accuracy", "balanced_accuracy", "f1", "auc", "log_loss", "brier", "calibration_error"}) {
    EXPECT_TRUE(test[name].is_number()) << name;
  }
  ASSERT_EQ(test["classes"].size(), 3U);
  EXPECT_EQ(test["classes"][2]["class"], "8");
  EXPECT_EQ(test["reliability"].size(), 10U);
  // Recomputes the scores from the confusion matrix.
  double recalls = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    double samples = 0;
    for (const auto& count : test["confusion"][c]) samples += count.get<double>();
    recalls += test["confusion"][c][c].get<double>() / samples;
  }
  EXPECT_NEAR(test["balanced_accuracy"].get<double>(), recalls / 3, 1e-15);
  const Finished predicted = folder.widelimit(words);
  for (const char* part : {"balanced", "precision", "recall", "F1", "AUC", "log loss", "Brier", "class (test)"}) {
    EXPECT_NE(predicted.out.find(part), std::string::npos) << part << predicted.out;
  }
}

/// Wilson's interval for 1 of 3: (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²))/(1 + z²/n) with z = 1.95996.
TEST(FitScores, OfHeldOutSamplesAreComparedWithChance) {
  const Folder folder;
  folder.write("t.csv", "a,b,y\n1,0,p\n0.9,0.1,p\n0,1,q\n0.1,0.9,q\n");
  folder.write("new.csv", "a,b,y\n1,0.2,p\n0.8,0,q\n0.7,0.1,q\n");
  const Words words{"fit",       "--network", "fc:1",     "--train", "t.csv", "--test", "new.csv",
                    "--machine", "ridge",     "--lambda", "0.1",     "--out", "m.h5"};
  const Finished run = folder.widelimit(joined(words, {"--json"}));
  ASSERT_EQ(run.status, 0) << run.err;
  const auto test = run.record()["results"]["test"];
  ASSERT_EQ(test["correct"], 1);
  EXPECT_NEAR(test["accuracy_interval"][0].get<double>(), 0.0614920, 1e-6);
  EXPECT_NEAR(test["accuracy_interval"][1].get<double>(), 0.7923404, 1e-6);
  EXPECT_EQ(test["largest_class"]["class"], "q");
  EXPECT_NEAR(test["largest_class"]["share"].get<double>(), 2.0 / 3, 1e-15);
  EXPECT_FALSE(run.record()["results"]["train"].contains("accuracy_interval")) << "the machine has seen these";
  const std::string text = folder.widelimit(words).out;
  EXPECT_NE(text.find("test  95 % interval of the accuracy 0.061 … 0.792; predicting 'q' always reaches 0.6667"),
            std::string::npos)
      << text;
}

TEST(FitScores, OfKnownSamplesAreNotCalledTest) {
  const Folder folder;
  folder.write("t.csv", "a,b,y\n1,0,p\n0.9,0.1,p\n0,1,q\n0.1,0.9,q\n");
  ASSERT_EQ(folder.widelimit({"fit", "--network", "fc:1", "--train", "t.csv", "--out", "m.h5"}).status, 0);
  const Finished run = folder.widelimit({"predict", "--model", "m.h5", "--test", "t.csv"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("train accuracy"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("test "), std::string::npos) << run.out;
}

TEST(FitScores, OfASingleClassSaySo) {
  const Folder folder;
  ASSERT_EQ(folder.widelimit(joined(fit_three, {"--out", "m.h5"})).status, 0);
  const Words words{"predict", "--model", "m.h5", "--test", "digits", "--classes", "3", "--limit", "9"};
  const Finished run = folder.widelimit(words);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("all samples are of class '3'"), std::string::npos) << run.out;
  const auto score = folder.widelimit(joined(words, {"--json"})).record()["results"]["score"];
  EXPECT_FALSE(score.contains("auc"));
  EXPECT_FALSE(score["notes"].empty());
}

TEST(FitScores, OfNumbers) {
  const Folder folder;
  std::string table = "x,y\n";
  for (int i = 0; i < 30; ++i) table += std::to_string(0.1 * i) + "," + std::to_string(std::sin(0.3 * i)) + "\n";
  folder.write("t.csv", table);
  folder.write("flat.csv", "x,y\n0.5,0.25\n0.7,0.25\n");
  const Words fit{"fit",   "--network", "fc:1(b_std=1)", "--train", "t.csv", "--machine",
                  "ridge", "--lambda",  "1e-3",          "--out",   "m.h5",  "--json"};
  const Finished run = folder.widelimit(fit);
  ASSERT_EQ(run.status, 0) << run.err;
  const auto train = run.record()["results"]["train"];
  EXPECT_GT(train["r2"], 0.5);
  EXPECT_NEAR(std::pow(train["root_squared_error"].get<double>(), 2), train["squared_error"].get<double>(), 1e-15);
  EXPECT_TRUE(train["absolute_error"].is_number());
  const auto flat =
      folder.widelimit({"predict", "--model", "m.h5", "--test", "flat.csv", "--json"}).record()["results"]["score"];
  EXPECT_FALSE(flat.contains("r2"));
  EXPECT_NE(flat["notes"][0].get<std::string>().find("constant"), std::string::npos);
}

/// The loss of a network is a negative log-likelihood; `train` and `predict` score the same probabilities.
TEST(FitScores, OfNetworksHaveTheirProbabilities) {
  const Folder folder;
  for (const char* classes : {"3,8", "1,3,8"}) {
    const std::string loss = std::string(classes) == "3,8" ? "logistic" : "softmax";
    const Words data{"digits", "--classes", classes, "--limit", "40"};
    const Finished trained = folder.widelimit(joined(
        joined({"train", "--train"}, data), {"--network", "fc:1", "--scale", "unit", "--width", "16", "--loss", loss,
                                             "--rate", "0.02", "--steps", "3", "--out", "n.h5", "--json"}));
    ASSERT_EQ(trained.status, 0) << trained.err;
    const Finished predicted =
        folder.widelimit(joined(joined({"predict", "--model", "n.h5", "--test"}, data), {"--json"}));
    ASSERT_EQ(predicted.status, 0) << predicted.err;
    const auto then = trained.record()["results"]["train"];
    const auto now = predicted.record()["results"]["score"];
    EXPECT_NEAR(then["log_loss"].get<double>(), now["log_loss"].get<double>(), 1e-9) << loss;
    EXPECT_EQ(then["confusion"], now["confusion"]);
  }
}

TEST(TuneOut, WritesTheModelThatFitWouldWrite) {
  const Folder folder;
  const Words data{"--train", "digits", "--classes", "3,8", "--limit", "80", "--scale", "unit", "--split", "0.8"};
  for (const char* machine : {"svm", "ridge"}) {
    const Finished tuned = folder.widelimit(joined({"tune", "--network", "fc:1", "--network", "fc:2", "--machine",
                                                    machine, "--lambdas", "0.01,1", "--out", "t.h5", "--json"},
                                                   data));
    ASSERT_EQ(tuned.status, 0) << tuned.err;
    const auto results = tuned.record()["results"];
    const Finished fitted =
        folder.widelimit(joined({"fit", "--network", results["best"]["kernel"], "--machine", machine, "--lambda",
                                 results["best"]["lambda"].dump(), "--out", "f.h5", "--json"},
                                data));
    ASSERT_EQ(fitted.status, 0) << fitted.err;
    EXPECT_EQ(results["fit"]["test"], fitted.record()["results"]["test"]);
    const auto scores = [&](const std::string& model) {
      return folder
          .widelimit({"predict", "--model", model, "--test", "digits", "--classes", "3,8", "--limit", "30", "--json"})
          .record()["results"]["scores"];
    };
    EXPECT_EQ(scores("t.h5"), scores("f.h5"));
  }
}

TEST(TuneOut, HasProbabilitiesAndDepths) {
  const Folder folder;
  const Words data{"--train", "digits", "--classes", "3,8", "--limit", "60", "--scale", "unit", "--lambdas", "0.01"};
  const Finished run = folder.widelimit(
      joined({"tune", "--network", "fc:2", "--machine", "svm", "--probability", "--out", "t.h5"}, data));
  ASSERT_EQ(run.status, 0) << run.err;
  const Finished predicted =
      folder.widelimit({"predict", "--model", "t.h5", "--test", "digits", "--classes", "3,8", "--limit", "5"});
  EXPECT_NE(predicted.out.find("p(8)"), std::string::npos) << predicted.out;
  const Finished swept =
      folder.widelimit(joined({"tune", "--network", "fc:2", "--sweep", "--out", "s.h5", "--json"}, data));
  ASSERT_EQ(swept.status, 0) << swept.err;
  EXPECT_EQ(swept.record()["results"]["candidates"].size(), 6U);  // 0 to 2 hidden layers, 0 to all of them frozen
  const Finished frozen = folder.widelimit(
      joined({"tune", "--network", "dense(frozen=true) relu dense", "--sweep", "--out", "z.h5", "--json"}, data));
  ASSERT_EQ(frozen.status, 0) << frozen.err;
  EXPECT_EQ(frozen.record()["results"]["candidates"].size(), 2U);  // the linear network has no trained layer
  const Finished about =
      folder.widelimit({"predict", "--model", "z.h5", "--test", "digits", "--classes", "3,8", "--limit", "3"});
  EXPECT_EQ(about.status, 0) << about.err;
  const Words without = joined({"tune", "--network", "fc:1"}, data);
  EXPECT_EQ(folder.widelimit(joined(without, {"--split", "0.5"})).status, 2);
  EXPECT_EQ(folder.widelimit(joined(without, {"--probability"})).status, 2);
  EXPECT_EQ(folder.widelimit(joined(without, {"--out", "m.npz"})).status, 2);
}

TEST(Tune, SaysWhatItsErrorDoesNotTell) {
  const Folder folder;
  const Words words{"tune", "--network", "fc:1", "--train", "digits", "--classes", "3,8", "--limit", "60", "--lambdas"};
  const auto notes = [&](const Words& more) {
    const Finished run = folder.widelimit(joined(joined(words, more), {"--json"}));
    EXPECT_EQ(run.status, 0) << run.err;
    return run.record().value("notes", nlohmann::json::array()).dump();
  };
  const std::string open = notes({"0.001,1000"});
  EXPECT_NE(open.find("is the smallest of 2 on the samples that selected it"), std::string::npos) << open;
  EXPECT_NE(open.find("of those tried"), std::string::npos) << "one of two values is always at an end: " << open;
  EXPECT_NE(open.find("--out with --test or --split"), std::string::npos) << open;
  const std::string tested = notes({"0.001,1000", "--split", "0.8", "--out", "m.h5"});
  EXPECT_NE(tested.find("therefore optimistic\""), std::string::npos) << tested;
  EXPECT_EQ(notes({"1"}), "[]") << "nothing was selected";
}

TEST(Tune, NamesAClassThatFoldsCannotShare) {
  const Folder folder;
  std::string table = "a,b,y\n0,1,rare\n";
  for (int i = 0; i < 20; ++i) table += fmt::format("{},{},{}\n", i % 7, i * i % 5, i % 2 == 0 ? "p" : "q");
  folder.write("t.csv", table);
  for (const Words& words :
       {Words{"tune", "--network", "fc:1", "--machine", "svm"}, Words{"compare", "--kernels", "rbf"},
        Words{"fit", "--network", "fc:1", "--probability", "--out", "m.h5"}}) {
    const Finished run = folder.widelimit(joined(words, {"--train", "t.csv"}));
    EXPECT_EQ(run.status, 3) << words[0];
    EXPECT_NE(run.err.find("class 'rare' has 1 sample"), std::string::npos) << run.err;
  }
  EXPECT_EQ(folder.widelimit({"tune", "--network", "fc:1", "--machine", "ridge", "--train", "t.csv"}).status, 0)
      << "leave-one-out has no folds";
}

TEST(Balance, WeighsTheRareClassAsTheOther) {
  const Folder folder;
  std::string table;
  for (int i = 0; i < 60; ++i) {
    const bool rare = i % 10 == 0;
    const double x = std::sin(1.7 * i);
    table +=
        std::to_string(x + (rare ? 0.8 : -0.2)) + "," + std::to_string(std::cos(2.3 * i)) + (rare ? ",yes\n" : ",no\n");
  }
  folder.write("t.csv", table);
  const auto fitted = [&](const Words& more) {
    const Words words{"fit",      "--network", "fc:1(b_std=1)", "--train", "t.csv",
                      "--lambda", "1",         "--out",         "m.h5",    "--json"};
    const Finished run = folder.widelimit(joined(words, more));
    EXPECT_EQ(run.status, 0) << run.err;
    return run.record();
  };
  for (const char* machine : {"svm", "svm2", "logistic", "ridge"}) {
    const auto plain = fitted({"--machine", machine})["results"];
    const auto record = fitted({"--machine", machine, "--balance"});
    const auto& balanced = record["results"];
    EXPECT_GT(balanced["train"]["balanced_accuracy"], plain["train"]["balanced_accuracy"]) << machine;
    EXPECT_EQ(record["settings"]["balance"], true);
    // Balanced weights 60/(2·54) and 60/(2·6).
    const auto given = fitted({"--machine", machine, "--class-weight", "no=0.55555555555555558,yes=5"})["results"];
    EXPECT_NEAR(given["summary"]["primal"].get<double>(), balanced["summary"]["primal"].get<double>(), 1e-9) << machine;
  }
  const Finished tuned = folder.widelimit({"tune", "--network", "fc:1(b_std=1)", "--train", "t.csv", "--machine", "svm",
                                           "--balance", "--lambdas", "1", "--json"});
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_EQ(tuned.record()["settings"]["balance"], true);
}

/// The bound of a weighted machine uses its norm and the unweighted losses.
TEST(Balance, LeavesBoundsTrue) {
  const Folder folder;
  const Words data{"--train", "digits", "--classes", "3,8", "--limit", "50"};
  ASSERT_EQ(folder
                .widelimit(joined({"fit", "--network", "fc:1", "--scale", "unit", "--lambda", "1", "--class-weight",
                                   "3=20", "--out", "m.h5"},
                                  data))
                .status,
            0);
  const Finished run = folder.widelimit(joined({"bound", "--model", "m.h5", "--json"}, data));
  ASSERT_EQ(run.status, 0) << run.err;
  const auto predicted =
      folder
          .widelimit({"predict", "--model", "m.h5", "--test", "digits", "--classes", "3,8", "--limit", "50", "--json"})
          .record()["results"];
  const auto labels = folder.widelimit(
      {"kernel", "--network", "fc:1", "--train", "digits", "--classes", "3,8", "--limit", "50", "--out", "k.npz"});
  ASSERT_EQ(labels.status, 0) << labels.err;
  const ArrayFile file = read_npz_arrays(folder.path("k.npz"));
  const auto& y = std::get<Matrix<double>>(file.arrays.at("y").values);
  double loss = 0;
  for (Index i = 0; i < 50; ++i) {
    const double sign = y.data()[i] == 1 ? 1 : -1;
    const double g = predicted["scores"][static_cast<std::size_t>(i)][0];
    loss += std::min(1.0, std::max(0.0, 1 - sign * g)) / 50;
  }
  EXPECT_NEAR(run.record()["results"]["bounds"][0]["rademacher"]["textbook"]["empirical"].get<double>(), loss, 1e-9);
}

TEST(Balance, IsRefusedByNameWhereItHasNoMeaning) {
  const Folder folder;
  folder.write("numbers.csv", "x,y\n1,0.5\n2,0.25\n");
  const auto refused = [&](const Words& more, const std::string& part) {
    const Finished run = folder.widelimit(joined({"fit", "--network", "fc:1", "--out", "m.h5"}, more));
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
  };
  const Words digits{"--train", "digits", "--classes", "3,8", "--limit", "20"};
  for (const char* machine : {"hard-svm", "regression", "svr"}) {
    refused(joined(digits, {"--machine", machine, "--balance"}), machine);
  }
  refused(joined(digits, {"--machine", "ridge", "--posterior", "--balance"}), "Gaussian process");
  refused(joined(digits, {"--balance", "--class-weight", "3=2"}), "one of them");
  refused(joined(digits, {"--class-weight", "3"}), "positive number");
  refused(joined(digits, {"--class-weight", "3=-1"}), "positive number");
  refused(joined(digits, {"--class-weight", "4=2"}), "the classes are: 3, 8");
  refused({"--train", "numbers.csv", "--machine", "ridge", "--balance"}, "no classes");
}

TEST(Endings, OfModelsSayHdf5) {
  const Folder folder;
  const Finished fit = folder.widelimit(joined(fit_three, {"--out", "m.npz"}));
  EXPECT_EQ(fit.status, 2);
  EXPECT_NE(fit.err.find(".h5 or .hdf5"), std::string::npos) << fit.err;
  EXPECT_EQ(folder.widelimit(joined(fit_three, {"--out", "m.hdf5"})).status, 0);
  const Finished train = folder.widelimit({"train", "--network", "fc:1", "--train", "digits", "--limit", "9", "--width",
                                           "8", "--steps", "1", "--out", "n.json"});
  EXPECT_EQ(train.status, 2) << train.err;
  EXPECT_EQ(folder.names(), (Words{"m.hdf5"}));
}

TEST(Endings, OfPredictionsNameTheirFormat) {
  const Folder folder;
  ASSERT_EQ(folder.widelimit(joined(fit_three, {"--probability", "--out", "m.h5"})).status, 0);
  const auto predict = [&](const std::string& out) {
    return folder.widelimit(
        {"predict", "--model", "m.h5", "--test", "digits", "--classes", "1,3,8", "--limit", "7", "--out", out});
  };
  for (const char* out : {"p.csv", "p.tsv", "p.json", "p.npz"}) {
    const Finished run = predict(out);
    ASSERT_EQ(run.status, 0) << run.err;
  }
  const std::string csv = text_of(folder, "p.csv");
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "sample,class,score(1|3),score(1|8),score(3|8),p(1),p(3),p(8)");
  const std::string tsv = text_of(folder, "p.tsv");
  EXPECT_EQ(tsv.substr(0, tsv.find('\n')), "sample\tclass\tscore(1|3)\tscore(1|8)\tscore(3|8)\tp(1)\tp(3)\tp(8)");
  const auto rows = nlohmann::json::parse(text_of(folder, "p.json"));
  ASSERT_EQ(rows.size(), 7U);
  const ArrayFile arrays = read_npz_arrays(folder.path("p.npz"));
  const auto& scores = std::get<Matrix<double>>(arrays.arrays.at("scores").values);
  const auto& predicted = std::get<Matrix<double>>(arrays.arrays.at("class").values);
  const auto names = nlohmann::json::parse(arrays.settings)["class_names"].get<Words>();
  for (Index i = 0; i < 7; ++i) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    EXPECT_EQ(row["score(1|8)"], scores(i, 1));
    EXPECT_EQ(row["class"], names[static_cast<std::size_t>(predicted.data()[i])]);
  }
  EXPECT_EQ(arrays.arrays.at("probabilities").dims, (std::vector<Index>{7, 3}));
  const Finished other = predict("p.txt");
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find(".csv, .tsv, .json or .npz"), std::string::npos) << other.err;
}

}  // namespace
}  // namespace widelimit::test
