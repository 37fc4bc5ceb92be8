#include "tests/app/program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

/// Samples like texts in a million columns: words up to 50 occur in class 0, words up to 100 in class 1, others in a
/// single sample.
void write_words(const std::filesystem::path& path, int rows, int first) {
  std::ofstream file(path);
  for (int i = first; i < first + rows; ++i) {
    const int own = i % 2 * 50 + 1;
    file << fmt::format("{} {}:1 {}:2 {}:1\n", i % 2, own + i * 7 % 5, own + 25 + i * 3 % 5,
                        500'000 + i * 37 % 400'000);
  }
  file << "0 1:1 1000000:1\n";
}

class Sparse : public testing::Test {
 protected:
  Sparse() {
    write_words(folder.path("train.svm"), 60, 0);
    write_words(folder.path("test.svm"), 31, 60);
  }
  Finished run(const Words& words) const {
    const Finished done = folder.widelimit(words);
    EXPECT_EQ(done.status, 0) << done.err;
    return done;
  }
  Folder folder;
};

TEST_F(Sparse, DataSaysHowItIsHeld) {
  const Finished shown = run({"data", "show", "train.svm"});
  EXPECT_NE(shown.out.find("sparse: 182 numbers stored"), std::string::npos) << shown.out;
  const auto results = run({"data", "show", "train.svm", "--json"}).record()["results"];
  EXPECT_EQ(results["stored"], 182);
}

TEST_F(Sparse, FitsPredictsAndTunes) {
  const Finished fit = run({"fit", "--network", "fc:2", "--train", "train.svm", "--test", "test.svm", "--machine",
                            "svm", "--lambda", "0.1", "--scale", "unit", "--out", "m.h5", "--json"});
  EXPECT_GT(fit.record()["results"]["test"]["accuracy"], 0.95);
  EXPECT_LT(std::filesystem::file_size(folder.path("m.h5")), 100'000u);  // not a million numbers
  const Finished predicted = run({"predict", "--model", "m.h5", "--test", "test.svm", "--json"});
  EXPECT_GT(predicted.record()["results"]["score"]["accuracy"], 0.95);
  const Finished split = run({"fit", "--network", "fc:1", "--train", "train.svm", "--split", "0.8", "--machine",
                              "ridge", "--lambda", "1e-8", "--out", "s.h5", "--json"});
  EXPECT_GT(split.record()["results"]["test"]["accuracy"], 0.8);
  run({"predict", "--model", "s.h5", "--test", "train.svm", "--part", "test", "--json"});
  run({"tune", "--network", "fc:2", "--train", "train.svm", "--machine", "svm", "--lambdas", "0.1,1", "--folds", "3"});
}

TEST_F(Sparse, KernelsOfEveryKind) {
  run({"kernel", "--network", "fc:3", "--train", "train.svm", "--out", "k.h5"});
  run({"kernel", "--network", "fc:3", "--train", "train.svm", "--test", "test.svm", "--out", "k.npz"});
  run({"kernel", "--classical", "rbf", "--train", "train.svm", "--out", "r.npz"});
}

TEST_F(Sparse, ShiftsAreRefusedWithTheFix) {
  const Finished refused = folder.widelimit(
      {"kernel", "--network", "fc:1", "--train", "train.svm", "--scale", "standard", "--out", "k.npz"});
  EXPECT_EQ(refused.status, 3);
  EXPECT_NE(refused.err.find("maxabs"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace widelimit::test
