#include "tests/app/program.hpp"
#include "tests/paths.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

namespace widelimit::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Words = std::vector<std::string>;

constexpr int stopping[] = {SIGINT, SIGTERM, SIGHUP};

/// Expects the status of the signal, a prompt end, and one message.
void expect_stopped(const Finished& run, int signal, milliseconds took) {
  EXPECT_EQ(run.status, 128 + signal) << run.err;
  EXPECT_NE(run.err.find("widelimit: error: "), std::string::npos) << run.err;
  // More than the promised second: the machine may be busy.
  EXPECT_LT(took, milliseconds(5000)) << run.err;
}

/// A command that runs for minutes unless it is stopped.
Finished stopped(const Folder& folder, const Words& words, int signal, milliseconds after = milliseconds(800)) {
  const auto start = std::chrono::steady_clock::now();
  const Finished run = folder.signalled(words, signal, after);
  const auto took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start) - after;
  expect_stopped(run, signal, took);
  return run;
}

TEST(Signals, EachLeavesNoHalfFileBehind) {
  for (const int signal : stopping) {
    const Folder folder;
    stopped(folder,
            {"kernel", "--network", "fc:9", "--train", "spirals(n=9000)", "--backend", "reference", "--out", "k.npz"},
            signal);
    EXPECT_TRUE(folder.names().empty());
  }
}

TEST(Signals, EachKeepsWhatCanBeGoneOnWith) {
  for (const int signal : stopping) {
    const Folder folder;
    const Finished run = stopped(
        folder,
        {"kernel", "--network", "fc:9", "--train", "spirals(n=3000)", "--backend", "reference", "--out", "k.h5"},
        signal, milliseconds(1500));
    EXPECT_NE(run.err.find("--resume"), std::string::npos) << run.err;
    EXPECT_EQ(folder.names(), (Words{"k.h5.journal", "k.h5.part"}));
  }
}

/// The parser of a long text file reacts to the signal.
TEST(Signals, ReadingStops) {
  const Folder folder;
  std::string rows;
  for (int i = 0; i < 1000; ++i) rows += "0.123456789,0.987654321,1\n";
  std::string text;
  for (int i = 0; i < 4000; ++i) text += rows;
  folder.write("a.csv", text);
  stopped(folder, {"data", "show", "a.csv"}, SIGTERM, milliseconds(250));
}

/// An eigenvalue decomposition of minutes does not check for interrupts: the timer ends it.
TEST(Signals, WorkThatDoesNotHearIsEndedByTheClock) {
  const Folder folder;
  stopped(
      folder,
      {"kernel", "--network", "fc:1", "--train", "spirals(n=4000)", "--out", "k.npz", "--report", "page.html", "-q"},
      SIGTERM, milliseconds(3000));
  EXPECT_FALSE(fs::exists(folder.path("page.html")));
}

/// A figure whose drawing program never ends.
TEST(Signals, ProgramsThatRunForUsEndWithUs) {
  const Folder folder;
  fs::create_directory(folder.path("bin"));
  folder.write("bin/gnuplot", "#!/bin/sh\n[ \"$1\" = --version ] || exec sleep 987\n");
  fs::permissions(folder.path("bin/gnuplot"), fs::perms::owner_all);
  const std::string run = "PATH=$PWD/bin:$PATH TMPDIR=$PWD timeout -s TERM 2 " + program_path() +
                          " kernel --network fc:1 --train spirals --limit 50 --out k.npz --report page.html -q; "
                          "echo status $?; pgrep -f '^sleep 987'; ls";
  const Finished shell = folder.run({"bash", "-c", run});
  // timeout returns 124 if it had to send the signal; the kernel was complete before.
  EXPECT_EQ(shell.out, "status 124\nbin\nk.npz\n") << shell.err;
}

TEST(Signals, AnIgnoredHangUpStaysIgnored) {
  const Folder folder;
  const Finished run =
      folder.run({"bash", "-c",
                  "trap '' HUP; " + program_path() +
                      " kernel --network fc:3 --train 'spirals(n=3000)' --out k.npz -q & sleep 0.3; kill "
                      "-HUP $!; wait $!"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(fs::exists(folder.path("k.npz")));
}

}  // namespace
}  // namespace widelimit::test
