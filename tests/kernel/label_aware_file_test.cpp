#include "widelimit/kernel/label_aware/label_aware_file.hpp"

#include "tests/kernel/label_aware_definition.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/report/file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace widelimit {
namespace {

constexpr Index n = 1100;
constexpr Index tests = 530;
constexpr const char* network_text = "dense(w_std=1.5, b_std=0.2) relu dense";

/// Pairs in tiles of 512 on and above the diagonal, and of the test kernel.
constexpr Index tile_pairs = 512 * n + 512 * (n - 512) + (n - 1024) * (n - 1024) + tests * n;

/// Cancels while tiles are written, identified by the total number of pairs of both matrices.
struct StopsAtTiles final : Progress {
  bool update(std::int64_t done, std::int64_t total, std::string_view) override {
    return total != tile_pairs || done == 0;
  }
};

/// Keeps the last report on tiles.
struct LastReport final : Progress {
  bool update(std::int64_t done, std::int64_t total, std::string_view unit) override {
    if (unit == "pairs") last = {done, total};
    return true;
  }
  std::pair<std::int64_t, std::int64_t> last;
};

class LabelAwareFile : public testing::Test {
 protected:
  LabelAwareFile() {
    // Beyond the range of the training pairs.
    for (Index i = 0; i < tests; i += 7) {
      for (Index j = 0; j < problem.x_test.cols(); ++j) problem.x_test(i, j) *= 3;
    }
    problem.k_test = std::get<Matrix<double>>(
        gram(Network::parse(network_text), problem.test_view(), problem.view(), {.kind = Kind::ntk}, *engine).ntk);
    const std::vector<GramBlock> blocks{{"", problem.view(), std::nullopt},
                                        {"test_", problem.test_view(), problem.view()}};
    const std::vector<Network> networks{Network::parse(network_text)};
    (void)write_gram(theta, networks, blocks, {.kind = Kind::ntk, .existing = Existing::replace}, *engine);
    // Two strips of 256 rows, three tiles of 512 × 512, and 1 MiB for blocks.
    options.memory = usize(8 * (2 * 256 * n + 3 * 512 * 512)) + (std::size_t{1} << 20);
    options.existing = Existing::replace;
  }
  LabelAwareFileSummary write() {
    return write_label_aware(out, {theta, "ntk", true}, problem.sources(), problem.labels, 2, options, *engine);
  }
  Code refusal() {
    try {
      (void)write();
    } catch (const Error& error) {
      return error.code();
    }
    return Code{};
  }
  /// Compares bitwise.
  bool equals(const AnyMatrix& expected, const char* name) const {
    const GramFile file(out, name);
    const AnyMatrix found = file.read(0, 0, file.rows(), file.cols());
    const auto& a = std::get<Matrix<double>>(found);
    return std::equal(a.data(), a.data() + a.rows() * a.cols(), std::get<Matrix<double>>(expected).data());
  }

  const std::unique_ptr<Engine> engine = make_engine("cpu");
  Problem problem{n, tests, 3, 2};
  const TemporaryFolder folder;
  const std::filesystem::path theta = folder.path() / "theta.h5";
  const std::filesystem::path out = folder.path() / "out.h5";
  LabelAwareFileOptions options;
};

/// With less memory than the matrices need, the result equals that of make_label_aware bitwise, with and without an
/// interruption.
TEST_F(LabelAwareFile, HasTheBitsOfMemoryAndResumes) {
  EXPECT_LT(*options.memory, usize(8 * (n * n + tests * n)));
  AnyMatrix train = problem.k.copy();
  AnyMatrix test = problem.k_test.copy();
  const LabelAwareKernels made = make_label_aware(train, &test, problem.sources(), problem.labels, 2, {}, *engine);
  const LabelAwareFileSummary whole = write();
  EXPECT_EQ(whole.made.aware.lambda, made.aware.lambda);
  EXPECT_TRUE(equals(train, "label_aware"));
  EXPECT_TRUE(equals(test, "test_label_aware"));
  const double trace = GramMatrix(train).mean_diagonal() * static_cast<double>(n);
  EXPECT_NEAR(*whole.matrices[0].entries.trace, trace, 1e-12 * trace);

  std::filesystem::remove(out);
  StopsAtTiles progress;
  options.progress = &progress;
  EXPECT_EQ(refusal(), Code::interrupted);
  EXPECT_TRUE(std::filesystem::exists(part_of(out)));
  options.progress = nullptr;
  options.existing = Existing::refuse;
  EXPECT_EQ(refusal(), Code::usage);
  options.existing = Existing::resume;
  LastReport report;
  options.progress = &report;
  const LabelAwareFileSummary rest = write();
  options.progress = nullptr;
  EXPECT_GT(rest.pairs_kept, 0);
  EXPECT_EQ(rest.pairs + rest.pairs_kept, static_cast<double>(tile_pairs));
  EXPECT_EQ(report.last.first, report.last.second);  // the progress of a resumed run ends at 100 %
  EXPECT_EQ(static_cast<double>(report.last.second), rest.pairs);
  EXPECT_TRUE(equals(train, "label_aware"));
  EXPECT_TRUE(equals(test, "test_label_aware"));
  EXPECT_TRUE(write().complete_before);
  options.aware.ratio = 0.2;
  EXPECT_EQ(refusal(), Code::usage);  // complete, but for other inputs
}

/// A matrix without entries has no mean, rather than 0/0.
TEST(LabelAwareFiles, TakeATestSetWithoutSamples) {
  const auto engine = make_engine("cpu");
  const Problem few{9, 0, 3, 2};
  const TemporaryFolder folder;
  const std::vector<GramBlock> blocks{{"", few.view(), std::nullopt}, {"test_", few.test_view(), few.view()}};
  const std::vector<Network> networks{Network::parse(network_text)};
  (void)write_gram(folder.path() / "theta.h5", networks, blocks, {.kind = Kind::ntk}, *engine);
  const LabelAwareFileSummary found = write_label_aware(
      folder.path() / "out.h5", {folder.path() / "theta.h5", "ntk", true}, few.sources(), few.labels, 2, {}, *engine);
  EXPECT_EQ(found.matrices[1].entries.mean, 0);
  EXPECT_EQ(found.matrices[1].entries.smallest, 0);
}

/// A run that resumes, or finds the file complete, counts the clamped pairs of all tiles.
TEST_F(LabelAwareFile, CountsClampedPairsOfEveryRun) {
  options.aware = {.method = LabelAwareMethod::kr1};
  AnyMatrix train = problem.k.copy();
  AnyMatrix test = problem.k_test.copy();
  const LabelAwareKernels made =
      make_label_aware(train, &test, problem.sources(), problem.labels, 2, options.aware, *engine);
  ASSERT_GT(made.beyond, 0);
  EXPECT_EQ(write().made.beyond, made.beyond);

  std::filesystem::remove(out);
  StopsAtTiles progress;
  options.progress = &progress;
  EXPECT_EQ(refusal(), Code::interrupted);
  options.progress = nullptr;
  options.existing = Existing::resume;
  const LabelAwareFileSummary rest = write();
  EXPECT_GT(rest.pairs_kept, 0);
  EXPECT_EQ(rest.made.beyond, made.beyond);
  EXPECT_EQ(write().made.beyond, made.beyond);  // complete
}

TEST_F(LabelAwareFile, DoesNotReplaceTheKernelItReads) {
  std::filesystem::create_symlink(theta, out);
  EXPECT_EQ(refusal(), Code::usage);
  EXPECT_EQ(GramFile(theta, "ntk").rows(), n);
  std::filesystem::remove(out);
  std::filesystem::create_hard_link(theta, out);
  EXPECT_EQ(refusal(), Code::usage);
  EXPECT_EQ(GramFile(theta, "ntk").rows(), n);
}

TEST_F(LabelAwareFile, RefusesWhatNeedsTheWholeMatrix) {
  options.aware = {.method = LabelAwareMethod::kr2};
  EXPECT_EQ(refusal(), Code::usage);
  options.aware = {.psd = Psd::clip};
  EXPECT_EQ(refusal(), Code::usage);
  options.aware = {};
  options.memory = 1000;
  EXPECT_EQ(refusal(), Code::resource);
}

}  // namespace
}  // namespace widelimit
