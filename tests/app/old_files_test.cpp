#include "tests/app/program.hpp"
#include "tests/paths.hpp"

#include "widelimit/base/version.hpp"
#include "widelimit/data/file/journal.hpp"
#include "widelimit/data/file/sealed_file.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/report/file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace widelimit::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

const fs::path& golden() {
  static const fs::path path = golden_file("v0.1.0");
  return path;
}

/// Expects `now` to contain everything in `then`, possibly with additional keys; numbers may differ by rounding.
/// Predictions are sums of 24 products with factors of size 1 to 10: a few hundred rounding errors of 1e-16, in another
/// order on another processor, stay below 1e-12.
void expect_same(const Json& now, const Json& then, const std::string& place) {
  if (then.is_number_float()) {
    ASSERT_TRUE(now.is_number()) << place;
    const double expected = then.get<double>();
    EXPECT_NEAR(now.get<double>(), expected, 1e-12 * std::max(1.0, std::abs(expected))) << place;
  } else if (then.is_structured()) {
    ASSERT_EQ(now.type(), then.type()) << place;
    ASSERT_TRUE(then.is_object() || now.size() == then.size()) << place;
    for (const auto& item : then.items()) {
      const Json::json_pointer entry("/" + item.key());
      ASSERT_TRUE(now.contains(entry)) << place << entry;
      expect_same(now.at(entry), item.value(), place + entry.to_string());
    }
  } else {
    EXPECT_EQ(now, then) << place;
  }
}

Words three_grams(const std::string& out) {
  return {"kernel",  "--network",   "fc:1",    "--network", "fc:2",  "--network", "fc:3",
          "--train", "samples.csv", "--limit", "12",        "--out", out,         "--json"};
}

Words resumed(Words words) {
  words.emplace_back("--resume");
  return words;
}

/// A folder with copies of the files of 0.1.0.
class OldFolder : public Folder {
 public:
  explicit OldFolder(const Words& names) {
    for (const std::string& name : names) fs::copy_file(golden() / name, path(name));
  }
};

AnyMatrix matrix_of(const fs::path& path, const std::string& name) {
  const GramFile matrix(path, name);
  return matrix.read(0, 0, matrix.rows(), matrix.cols());
}

/// Compares all entries with a tolerance relative to the largest; 0 requires identical bits.
void expect_matrix(const fs::path& now, const fs::path& then, const std::string& name, double tolerance) {
  const AnyMatrix here = matrix_of(now, name);
  const AnyMatrix there = matrix_of(then, name);
  const auto& a = std::get<Matrix<double>>(here);
  const auto& b = std::get<Matrix<double>>(there);
  ASSERT_EQ(a.rows(), b.rows()) << name;
  ASSERT_EQ(a.cols(), b.cols()) << name;
  ASSERT_GT(b.rows(), 0) << name;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) EXPECT_NEAR(a(i, j), b(i, j), tolerance) << name << ' ' << i << ' ' << j;
  }
}

class OldModels : public testing::TestWithParam<const char*> {};

TEST_P(OldModels, PredictTheRecordedNumbers) {
  const std::string name = GetParam();
  const OldFolder folder({name + ".h5", "unseen.csv"});
  const Finished predicted = folder.widelimit({"predict", "--model", name + ".h5", "--test", "unseen.csv", "--json"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  expect_same(predicted.record()["results"], Json::parse(read_back(golden() / "predictions.json")).at(name), name);
}

INSTANTIATE_TEST_SUITE_P(OfVersion010, OldModels, testing::Values("ridge", "svm", "logistic", "posterior", "network"));

TEST(OldGrams, AreComputedAgainToRounding) {
  const OldFolder folder({"samples.csv"});
  const Finished run = folder.widelimit({"kernel", "--network", "fc:2", "--train", "samples.csv", "--limit", "12",
                                         "--kind", "nngp,ntk", "--out", "gram.h5", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  // Entries are below 1, with about ten rounding errors each from three layers of formulas.
  for (const char* name : {"nngp", "ntk"}) expect_matrix(folder.path("gram.h5"), golden() / "gram.h5", name, 1e-14);
}

TEST(OldGrams, AreRecognisedAsComplete) {
  const OldFolder folder({"samples.csv", "gram.h5"});
  const Finished run = folder.widelimit(resumed({"kernel", "--network", "fc:2", "--train", "samples.csv", "--limit",
                                                 "12", "--kind", "nngp,ntk", "--out", "gram.h5", "--json"}));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.record()["results"]["complete_before"], true);
  EXPECT_EQ(read_back(folder.path("gram.h5")), read_back(golden() / "gram.h5"));
}

TEST(OldGrams, FitAMachine) {
  const OldFolder folder({"samples.csv", "gram.h5"});
  const Words fit{"fit",       "--network", "fc:2",     "--train", "samples.csv", "--limit", "12",
                  "--machine", "ridge",     "--lambda", "0.1",     "--json",      "--out"};
  Words with = fit;
  with.insert(with.end(), {"with.h5", "--gram", "gram.h5"});
  Words without = fit;
  without.emplace_back("without.h5");
  const Finished stored = folder.widelimit(with);
  ASSERT_EQ(stored.status, 0) << stored.err;
  const Finished computed = folder.widelimit(without);
  ASSERT_EQ(computed.status, 0) << computed.err;
  // The condition number of K + λ/2 is below 100: rounding errors of 1e-15 in K become 1e-13.
  expect_matrix(folder.path("with.h5"), folder.path("without.h5"), "alpha", 1e-12);
}

TEST(OldGrams, AStoppedOneIsFinishedFromItsJournal) {
  const OldFolder folder({"samples.csv", "stopped.h5.part", "stopped.h5.journal"});
  const Finished run = folder.widelimit(resumed(three_grams("stopped.h5")));
  ASSERT_EQ(run.status, 0) << run.err;
  const Json results = run.record()["results"];
  EXPECT_EQ(results["pairs_kept"], 2 * 78);
  EXPECT_EQ(results["pairs"], 78);
  EXPECT_EQ(folder.names(), (Words{"samples.csv", "stopped.h5"}));
  // Tiles listed in the journal are kept bit for bit; the rest is computed here.
  expect_matrix(folder.path("stopped.h5"), golden() / "whole.h5", "network1/ntk", 0);
  expect_matrix(folder.path("stopped.h5"), golden() / "whole.h5", "network2/ntk", 0);
  expect_matrix(folder.path("stopped.h5"), golden() / "whole.h5", "network3/ntk", 1e-14);
}

/// Rewrites the file in a later format, as version 9.8.7 might write it.
void write_later(const fs::path& from, const fs::path& to, const SealedFormat& format, const Words& names) {
  ArrayFile file = read_hdf5_arrays(from, {});
  Description settings = Description::parse(file.settings);
  Description description = settings.at(format.key);
  description["version"] = "9.8.7";
  std::vector<NamedArray> arrays;
  for (const std::string& name : names) {
    std::visit([&](const auto& m) { arrays.push_back({name, m.view(), {}}); }, file.arrays.at(name).values);
  }
  SealedFormat later = format;
  later.number = format.number + 1;
  write_sealed(to, later, description, arrays);
}

void expect_later_refused(const Finished& run, const Words& parts) {
  EXPECT_EQ(run.status, 3) << run.out;
  for (const std::string& part : parts) EXPECT_NE(run.err.find(part), std::string::npos) << part << " in " << run.err;
}

TEST(LaterFiles, ModelsAndNetworksAreRefusedByBothVersions) {
  const OldFolder folder({"unseen.csv"});
  // The latest formats that this version reads: 3 for label-aware models, 2 for checkpoints.
  constexpr SealedFormat model{.name = "widelimit model", .number = 3, .key = "model", .article = "", .writer = ""};
  constexpr SealedFormat network{
      .name = "widelimit network", .number = 2, .key = "network", .article = "", .writer = ""};
  write_later(golden() / "ridge.h5", folder.path("model.h5"), model,
              {"support", "alpha", "bias", "shift", "scale", "calibration"});
  write_later(golden() / "network.h5", folder.path("network.h5"), network, {"w0", "b0", "w1", "b1", "shift", "scale"});
  for (const auto& [name, known] : {std::pair{"model.h5", model.number}, {"network.h5", network.number}}) {
    expect_later_refused(folder.widelimit({"predict", "--model", name, "--test", "unseen.csv"}),
                         {name, fmt::format("format {}", known + 1), "widelimit 9.8.7",
                          "widelimit " + std::string(version()), fmt::format("format {}", known), "upgrade"});
  }
}

TEST(LaterFiles, UnfinishedGramsAreRefusedByBothVersions) {
  const OldFolder folder({"samples.csv", "stopped.h5.part", "stopped.h5.journal"});
  {
    Journal journal(folder.path("stopped.h5.journal"));
    const std::vector<Journal::Record> records = journal.records();
    ASSERT_EQ(records.size(), 2U);
    Json header = Json::parse(journal.header());
    header["format"] = 2;
    journal.begin(header.dump());
    for (const Journal::Record& record : records) journal.append(record);
  }
  const Words before = folder.names();
  expect_later_refused(folder.widelimit(resumed(three_grams("stopped.h5"))),
                       {"stopped.h5.part", "format 2", "widelimit " + std::string(version()), "format 1", "--force"});
  EXPECT_EQ(folder.names(), before);
}

}  // namespace
}  // namespace widelimit::test
