#include "tests/app/program.hpp"

#include "widelimit/base/random.hpp"
#include "widelimit/kernel/file/gram_writer.hpp"
#include "widelimit/report/file.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace widelimit::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using std::chrono::milliseconds;

/// Takes a few tenths of a second on one thread, in two blocks of two matrices; under sanitizers, which are ten times
/// slower, the network has fewer layers.
Words work(const std::string& out, bool resume = true) {
  const std::string network = WIDELIMIT_SANITIZED != 0 ? "fc:2" : "fc:20";
  Words words{"kernel",    "--network", network,       "--train", "digits", "--split", "0.8",      "--kind", "nngp,ntk",
              "--threads", "1",         "--precision", "f64",     "--out",  out,       "--memory", "64MiB"};
  if (resume) words.push_back("--resume");
  return words;
}

TEST(Resume, KilledAtRandomMomentsTheFileIsTheSame) {
  const Folder folder;
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(folder.widelimit(work("whole.h5", false)).status, 0);
  const double whole = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const std::string expected = read_back(folder.path("whole.h5"));

  // A killed process leaves no sanitizer report.
  constexpr int enough = WIDELIMIT_SANITIZED != 0 ? 4 : 24;
  const Random random(20);
  int kills = 0;
  int kept = 0;
  for (std::uint64_t draw = 0; kills < enough && draw < 200;) {
    while (!fs::exists(folder.path("k.h5"))) {
      const Finished run = folder.killed(work("k.h5"), milliseconds(static_cast<int>(random.uniform(draw++) * whole)));
      ASSERT_TRUE(run.status == 128 + SIGKILL || run.status == 0) << run.err;
      kills += run.status == 0 ? 0 : 1;
    }
    // If the run was killed after the rename, the journal may still exist: another run removes it.
    const Finished last = folder.widelimit(work("k.h5"));
    ASSERT_EQ(last.status, 0) << last.err;
    kept += last.out.find("complete") != std::string::npos ? 1 : 0;
    ASSERT_TRUE(read_back(folder.path("k.h5")) == expected) << "after " << kills << " kills";
    ASSERT_EQ(folder.names(), (Words{"k.h5", "whole.h5"}));
    fs::remove(folder.path("k.h5"));
  }
  EXPECT_GE(kills, enough);
  EXPECT_GT(kept, 0);
}

TEST(Resume, AnInterruptSaysHowToGoOn) {
  const Folder folder;
  const Words words{"kernel",    "--network", "fc:9", "--train",  "spirals(n=1500)", "--backend",
                    "reference", "--out",     "k.h5", "--resume", "--progress"};
  const Finished run = folder.interrupted(words, milliseconds(1500), "pairs/s");
  EXPECT_EQ(run.status, 130) << run.err;
  EXPECT_NE(run.err.find("--resume"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("pairs/s"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find(" left"), std::string::npos) << run.err;
  EXPECT_EQ(folder.names(), (Words{"k.h5.journal", "k.h5.part"}));
  Words without = words;
  std::erase(without, "--resume");
  const Finished refused = folder.widelimit(without);
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("--force"), std::string::npos) << refused.err;
}

TEST(Resume, OtherSettingsAreAUsageErrorThatNamesThem) {
  const Folder folder;
  const Words words{"kernel", "--network", "fc:1", "--train", "spirals", "--limit", "40", "--out", "k.h5"};
  ASSERT_EQ(folder.widelimit(words).status, 0);
  Words other = words;
  other.insert(other.end(), {"--precision", "f32", "--resume"});
  const Finished refused = folder.widelimit(other);
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("precision: f64 there, f32 here"), std::string::npos) << refused.err;
  other = words;
  other[6] = "41";
  other.push_back("--resume");
  EXPECT_NE(folder.widelimit(other).err.find("samples: 40 samples"), std::string::npos);
  Words again = words;
  again.push_back("--resume");
  EXPECT_EQ(folder.widelimit(again).status, 0);
  // Without --resume a complete file is replaced.
  EXPECT_EQ(folder.widelimit(words).status, 0);
}

TEST(Resume, GoesWithGramFilesOnly) {
  const Folder folder;
  const auto status = [&](const Words& more) {
    Words words{"kernel", "--network", "fc:1", "--train", "spirals", "--limit", "9"};
    words.insert(words.end(), more.begin(), more.end());
    return folder.widelimit(words).status;
  };
  EXPECT_EQ(status({"--out", "k.npz", "--resume"}), 2);
  EXPECT_EQ(status({"--out", "k.h5", "--resume", "--sweep"}), 2);
  EXPECT_EQ(status({"--out", "k.h5", "--resume", "--force"}), 2);
  EXPECT_EQ(status({"--out", "k.npz", "--network", "fc:2"}), 2);
  EXPECT_EQ(status({"--out", "k.h5", "--network", "fc:2"}), 0);
}

/// A matrix of 576 MB in 128 MiB of memory.
TEST(Resume, ALargeGramStaysWithinItsMemory) {
  if (WIDELIMIT_SANITIZED != 0) GTEST_SKIP() << "sanitizers keep memory of their own";
  const Folder folder;
  const Finished run = folder.widelimit({"kernel", "--network", "fc:3", "--train", "spirals(n=12000)", "--precision",
                                         "f32", "--memory", "128MiB", "--out", "k.h5", "--json", "--quiet"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_GT(fs::file_size(folder.path("k.h5")), 576000000U);
  const auto memory = run.record()["results"]["memory"];
  EXPECT_LE(memory["planned"], std::size_t{128} << 20);
  EXPECT_LT(memory["peak"], std::size_t{128} << 20);
  EXPECT_LT(run.peak_memory, std::size_t{128} << 20);
}

}  // namespace
}  // namespace widelimit::test
