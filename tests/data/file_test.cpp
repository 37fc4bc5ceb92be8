#include "widelimit/data/file/file.hpp"

#include "fixture.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace widelimit {
namespace {

namespace fs = std::filesystem;

class Files : public Folder {};

TEST_F(Files, AnUnfinishedFileIsRemovedByASignalAndAFinishedOneIsNot) {
  {
    AtomicFile file(path("a"));
    EXPECT_EQ(files(), 1U);
    remove_unfinished();
    EXPECT_EQ(files(), 0U);
  }
  AtomicFile file(path("a"));
  file.file().write(as_bytes("text"));
  file.commit();
  remove_unfinished();
  EXPECT_EQ(as_text(read_file(path("a"))), "text");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Files, SameFileSeesThroughLinks) {
  const fs::path a = put("a", "1");
  put("b", "1");
  fs::create_symlink("a", path("link"));
  fs::create_hard_link(a, path("hard"));
  fs::create_directory(path("folder"));
  fs::create_directory_symlink("folder", path("door"));
  EXPECT_TRUE(same_file(a, path("folder/../a")));
  EXPECT_TRUE(same_file(a, path("link")));
  EXPECT_TRUE(same_file(path("hard"), a));
  EXPECT_FALSE(same_file(a, path("b")));
  // Files that do not exist yet.
  EXPECT_TRUE(same_file(path("folder/new"), path("door/new")));
  EXPECT_FALSE(same_file(path("folder/new"), path("new")));
  fs::create_symlink("new", path("early"));
  EXPECT_TRUE(same_file(path("early"), path("new")));
  EXPECT_TRUE(same_file("new", fs::current_path() / "new"));
}

/// More files at once than slots: all must be written.
TEST_F(Files, ManyAtOnce) {
  std::vector<std::unique_ptr<AtomicFile>> all;
  for (int k = 0; k < 40; ++k) all.push_back(std::make_unique<AtomicFile>(path(std::to_string(k))));
  for (const auto& file : all) file->commit();
  EXPECT_EQ(files(), 40U);
}

/// Predictable temporary names must not follow links.
TEST_F(Files, PlantedLinksAreNotFollowed) {
  put("victim", "precious");
  for (unsigned k = 0; k < 500; ++k) {
    const fs::path planted = path("a.part-" + std::to_string(::getpid()) + "-" + std::to_string(k));
    fs::create_symlink("victim", planted);
  }
  write_atomically(path("a"), "text");
  EXPECT_EQ(as_text(read_file(path("victim"))), "precious");
  EXPECT_EQ(as_text(read_file(path("a"))), "text");
  EXPECT_FALSE(fs::is_symlink(path("a")));
}

TEST_F(Files, OnlyRegularFilesAreReplaced) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_directory(path("folder"));
  for (const char* name : {"pipe", "folder", "absent/a", ""}) {
    expect_error(Code::resource, {"cannot write"}, [&] { write_atomically(path(name), "text"); });
    expect_error(Code::resource, {"cannot write"}, [&] { check_writable(path(name), 0); });
  }
  expect_error(Code::resource, {"/dev/null"}, [] { write_atomically("/dev/null", "text"); });
  fs::create_symlink("real", path("link"));
  write_atomically(path("link"), "text");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(as_text(read_file(path("real"))), "text");
}

}  // namespace
}  // namespace widelimit
