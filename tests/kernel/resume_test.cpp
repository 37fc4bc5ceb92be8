#include "tests/kernel/gram_file_fixture.hpp"

#include "widelimit/kernel/file/gram_writer.hpp"

#include <signal.h>
#include <sys/resource.h>

namespace widelimit::test {
namespace {

namespace fs = std::filesystem;

/// A Gram matrix of 1,100 vectors in a temporary folder, computed with or without interruptions.
class Resume : public testing::Test {
 protected:
  GramFileOptions options(Existing existing = Existing::resume) const {
    GramFileOptions result{.kind = Kind::both, .precision = Precision::f32};
    result.existing = existing;
    result.settings["data"] = "normal";
    return result;
  }
  GramFileSummary store(const fs::path& place, const GramFileOptions& how) const {
    return write_gram(place, {&network, 1}, {&block, 1}, how, *cpu);
  }
  /// Numbers of pairs at which runs are stopped: `early` takes effect after the first tile of a fresh run, `late` when
  /// all tiles are written but the file is not yet renamed.
  static constexpr std::int64_t early = 1;
  static constexpr std::int64_t late = 1100 * 1101 / 2;

  /// Cancels a run after `pairs` pairs.
  Error stop(const fs::path& place, std::int64_t pairs, Existing existing = Existing::resume) const {
    StopAfter progress(pairs);
    GramFileOptions how = options(existing);
    how.progress = &progress;
    return thrown_error([&] { (void)store(place, how); });
  }
  std::string uninterrupted() const {
    (void)store(folder.path() / "whole.h5", options());
    return read_back(folder.path() / "whole.h5");
  }

  TemporaryFolder folder;
  fs::path path = folder.path() / "k.h5";
  Network network = Network::parse("fc:2(b_std=0.1)");
  Matrix<double> x = normal_rows(1100, 6, 3);
  GramBlock block{"", SampleView(x.view(), {1, 1, 6}), std::nullopt};
};

TEST_F(Resume, ManyInterruptionsLeaveTheSameBytes) {
  const std::string expected = uninterrupted();
  int stops = 0;
  double kept = 0;
  for (; !fs::exists(path); ++stops) {
    ASSERT_LT(stops, 100);
    // The first progress report follows the first tile, so every run finishes a few tiles.
    StopAfter progress(1);
    GramFileOptions how = options();
    how.progress = &progress;
    how.most_loaded = stops % 2 == 0 ? 0 : 1024;  // panels may differ between runs
    try {
      kept = store(path, how).pairs_kept;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), Code::interrupted);
      EXPECT_EQ(error.remedies(), std::vector{Remedy::resume}) << error.what();
      EXPECT_TRUE(fs::exists(part_of(path)) && fs::exists(journal_of(path)));
    }
  }
  EXPECT_GE(stops, 1);
  EXPECT_GT(kept, 0);
  EXPECT_TRUE(read_back(path) == expected);
  EXPECT_FALSE(fs::exists(part_of(path)) || fs::exists(journal_of(path)));
}

TEST_F(Resume, CompleteFileIsLeftAlone) {
  (void)uninterrupted();
  const auto before = fs::last_write_time(folder.path() / "whole.h5");
  const GramFileSummary summary = store(folder.path() / "whole.h5", options());
  EXPECT_TRUE(summary.complete_before);
  EXPECT_EQ(summary.pairs, 0);
  EXPECT_EQ(fs::last_write_time(folder.path() / "whole.h5"), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST_F(Resume, OtherSettingsAreRefusedByName) {
  (void)stop(path, early);
  const auto refusal = [&](const Network& net, const GramBlock& what, GramFileOptions how) {
    const Error error = thrown_error([&] { (void)write_gram(path, {&net, 1}, {&what, 1}, how, *cpu); });
    EXPECT_EQ(error.code(), Code::usage);
    return std::string(error.what());
  };
  EXPECT_NE(refusal(Network::parse("fc:3"), block, options()).find("network: "), std::string::npos);
  GramFileOptions other = options();
  other.precision = Precision::f64;
  EXPECT_NE(refusal(network, block, other).find("precision: f32 there, f64 here"), std::string::npos);
  other = options();
  other.kind = Kind::ntk;
  EXPECT_NE(refusal(network, block, other).find("kind: nngp,ntk there, ntk here"), std::string::npos);
  Matrix<double> y = normal_rows(1100, 6, 3);
  y(1099, 5) = std::nextafter(y(1099, 5), 10.0);
  const GramBlock moved{"", SampleView(y.view(), {1, 1, 6}), std::nullopt};
  EXPECT_NE(refusal(network, moved, options()).find("samples: "), std::string::npos);
  // The existing tiles are unharmed.
  const std::string expected = uninterrupted();
  EXPECT_GT(store(path, options()).pairs_kept, 0);
  EXPECT_TRUE(read_back(path) == expected);
  // A complete file with other settings is not accepted either.
  other = options();
  other.kind = Kind::nngp;
  EXPECT_NE(refusal(network, block, other).find("complete"), std::string::npos);
}

TEST_F(Resume, FinishedTilesAreNotThrownAwayUnasked) {
  (void)stop(path, early);
  const Error refused = thrown_error([&] { (void)store(path, options(Existing::refuse)); });
  EXPECT_EQ(refused.code(), Code::usage);
  EXPECT_EQ(refused.remedies(), (std::vector{Remedy::resume, Remedy::begin_again})) << refused.what();
  EXPECT_EQ(store(path, options(Existing::replace)).pairs_kept, 0);
}

TEST_F(Resume, ReadersOfAnUnfinishedFileAreToldHowToFinishIt) {
  (void)stop(path, early);
  for (const fs::path& name : {path, part_of(path)}) {
    const Error error = thrown_error([&] { GramFile{name}; });
    EXPECT_EQ(error.code(), Code::input);
    EXPECT_EQ(error.remedies(), std::vector{Remedy::resume}) << error.what();
  }
}

TEST_F(Resume, DamagedTilesAreComputedAgain) {
  const std::string expected = uninterrupted();
  (void)stop(path, late);
  {
    std::fstream part(part_of(path), std::ios::in | std::ios::out | std::ios::binary);
    part.seekp(600000);  // within the first chunk
    part << "damage";
  }
  (void)store(path, options());
  EXPECT_TRUE(read_back(path) == expected);
}

TEST_F(Resume, TruncatedJournalLosesOnlyWhatItLost) {
  const std::string expected = uninterrupted();
  (void)stop(path, late);
  const auto size = fs::file_size(journal_of(path));
  for (const std::uintmax_t bytes : {size - 7, size - 24 - 1, size - 100}) {
    const std::string journal = read_back(journal_of(path));
    fs::resize_file(journal_of(path), bytes);
    const Error error = stop(path, 1);
    EXPECT_EQ(error.code(), Code::interrupted);
  }
  (void)store(path, options());
  EXPECT_TRUE(read_back(path) == expected);
}

TEST_F(Resume, JournalCutAtAnyByteIsSafe) {
  const std::string expected = uninterrupted();
  (void)stop(path, late);
  const std::string journal = read_back(journal_of(path));
  const std::string part = read_back(part_of(path));
  const Random random(11);
  for (std::uint64_t k = 0; k < (WIDELIMIT_SANITIZED != 0 ? 2 : 6); ++k) {
    const auto length = static_cast<std::size_t>(random.uniform(k) * static_cast<double>(journal.size()));
    SCOPED_TRACE(length);
    std::ofstream(journal_of(path), std::ios::binary) << journal.substr(0, length);
    std::ofstream(part_of(path), std::ios::binary) << part;
    (void)store(path, options());
    EXPECT_TRUE(read_back(path) == expected);
    fs::remove(path);
  }
}

TEST_F(Resume, DamageIsAnErrorThatSaysWhatToDo) {
  (void)stop(path, early);
  const std::string journal = read_back(journal_of(path));
  const auto expect_input = [&](const std::string& message) {
    const Error error = thrown_error([&] { (void)store(path, options()); });
    EXPECT_EQ(error.code(), Code::input);
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  };
  std::string bad = journal;
  bad[40] = static_cast<char>(bad[40] ^ 1);
  std::ofstream(journal_of(path), std::ios::binary) << bad;
  expect_input("damaged");
  std::ofstream(journal_of(path), std::ios::binary) << "no journal at all, but some text of this length";
  expect_input("not a journal");
  std::ofstream(journal_of(path), std::ios::binary) << journal;
  fs::resize_file(part_of(path), fs::file_size(part_of(path)) - 100);
  expect_input("damaged");
  {
    std::ofstream part(part_of(path), std::ios::binary | std::ios::in);
    part << "not HDF5 any more";
  }
  fs::resize_file(part_of(path), fs::file_size(part_of(path)) + 100);
  expect_input("HDF5");
  EXPECT_EQ(store(path, options(Existing::replace)).pairs_kept, 0);
}

TEST_F(Resume, StopBeforeTheFirstTileLeavesNothing) {
  class Never final : public Progress {
   public:
    bool update(std::int64_t, std::int64_t, std::string_view) override { return false; }
  };
  // With quadrature, the samples are processed before the file is created.
  const Network smooth = Network::parse("dense tanh dense");
  Never progress;
  GramFileOptions how = options();
  how.progress = &progress;
  const Matrix<double> images = normal_rows(40, 6, 3);
  const GramBlock few{"", SampleView(images.view(), {3, 2, 1}), std::nullopt};
  const Error error = thrown_error([&] {
    (void)write_gram(path, {&smooth, 1}, {&few, 1}, how, *make_engine("reference"));
  });
  EXPECT_EQ(error.code(), Code::interrupted);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(Resume, OneProcessAtATime) {
  const Journal held(journal_of(path));
  const Error error = thrown_error([&] { (void)store(path, options()); });
  EXPECT_EQ(error.code(), Code::resource);
  EXPECT_NE(std::string(error.what()).find("in use"), std::string::npos);
}

TEST_F(Resume, ALinkIsFollowed) {
  fs::create_directory(folder.path() / "disk");
  fs::create_symlink(folder.path() / "disk" / "real.h5", path);
  (void)stop(path, early);
  EXPECT_TRUE(fs::exists(folder.path() / "disk" / "real.h5.part"));
  (void)store(path, options());
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_EQ(GramFile(path, "nngp").rows(), 1100);
}

/// A limit on the file size simulates a full disk: writes fail during the computation.
TEST_F(Resume, AFullDiskKeepsWhatIsFinished) {
  const std::string expected = uninterrupted();
  (void)stop(path, 1);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{expected.size() * 2 / 3, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Error error = thrown_error([&] { (void)store(path, options()); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(error.code(), Code::resource);
  EXPECT_EQ(error.remedies(), std::vector{Remedy::resume}) << error.what();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_GT(store(path, options()).pairs_kept, 0);
  EXPECT_TRUE(read_back(path) == expected);
}

TEST_F(Resume, FullDiskAtTheStartLeavesNothing) {
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1U << 20U, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Error error = thrown_error([&] { (void)store(path, options()); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(error.code(), Code::resource);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(Resume, PlacesThatCannotBeWritten) {
  const auto code = [&](const fs::path& place) { return thrown_code([&] { (void)store(place, options()); }); };
  EXPECT_EQ(code(folder.path()), Code::resource);
  EXPECT_EQ(code(folder.path() / "none" / "k.h5"), Code::resource);
  EXPECT_EQ(code("/dev/full"), Code::resource);
}

}  // namespace
}  // namespace widelimit::test
