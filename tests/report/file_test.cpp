#include "widelimit/report/file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/report/drawing/process.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

namespace widelimit {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t count_entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

Code code_of_writing(const fs::path& path) {
  try {
    write_atomically(path, "text");
  } catch (const Error& error) {
    return error.code();
  }
  return Code{0};
}

TEST(File, ReplacesWholeAndLeavesNothingBeside) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "page.html";
  write_atomically(path, "old and long");
  write_atomically(path, "new");
  EXPECT_EQ(read_back(path), "new");
  EXPECT_EQ(count_entries(folder.path()), 1);
}

TEST(File, FollowsALink) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "real", "old");
  fs::create_symlink("real", folder.path() / "link");
  write_atomically(folder.path() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(read_back(folder.path() / "real"), "new");
}

TEST(File, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(code_of_writing(pipe), Code::resource);
  EXPECT_EQ(code_of_writing("/dev/null"), Code::resource);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(count_entries(folder.path()), 1);
}

TEST(File, UnwritableIsAResourceError) {
  const TemporaryFolder folder;
  EXPECT_EQ(code_of_writing(folder.path() / "absent" / "page.html"), Code::resource);
  EXPECT_EQ(code_of_writing(folder.path()), Code::resource);
  EXPECT_EQ(code_of_writing(""), Code::resource);
  EXPECT_EQ(code_of_writing("/proc/widelimit.html"), Code::resource);
  EXPECT_EQ(count_entries(folder.path()), 0);
}

TEST(File, TemporaryFolderGoesWithItsContents) {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    write_atomically(path / "a", "a");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Process, ArgumentsArriveAsTheyAre) {
  const TemporaryFolder folder;
  const ProgramEnd ending = run_program({"printf", "%s|", "a b", "$(touch x)", "`y`", ""}, folder.path());
  EXPECT_TRUE(ending.succeeded());
  EXPECT_EQ(ending.output, "a b|$(touch x)|`y`||");
}

TEST(Process, TellsHowItEnded) {
  const TemporaryFolder folder;
  EXPECT_FALSE(run_program({"no-such-program-here"}, folder.path()).found);
  EXPECT_EQ(run_program({"sh", "-c", "exit 7"}, folder.path()).status, 7);
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}, folder.path()).signal, 9);
  EXPECT_EQ(run_program({"sh", "-c", "echo out; echo err >&2"}, folder.path()).output, "out\nerr\n");
}

}  // namespace
}  // namespace widelimit
