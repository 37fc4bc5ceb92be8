#include "tests/app/program.hpp"
#include "tests/paths.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace widelimit::test {
namespace {

namespace fs = std::filesystem;

/// Tests of the program under shell limits.
Finished limited(const Folder& folder, const std::string& limits, const std::string& arguments) {
  return folder.run({"bash", "-c", limits + "; exec " + program_path() + " " + arguments});
}

/// Expects status 5 and one message that contains all of `parts`.
void expect_refusal(const Finished& run, const std::vector<std::string>& parts) {
  EXPECT_EQ(run.status, 5) << run.err;
  EXPECT_TRUE(run.err.starts_with("widelimit: error: ")) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  for (const std::string& part : parts) EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
}

/// OpenBLAS would retry its allocation endlessly: each run ends within seconds, and runs without matrix products
/// succeed.
TEST(Limits, LittleAddressSpaceIsARefusalNotAWait) {
  if (WIDELIMIT_SANITIZED != 0) GTEST_SKIP() << "sanitizers take address space of their own";
  const Folder folder;
  const std::string fit = "fit --network fc:1 --train digits --machine ridge --out m.h5 -q --threads ";
  const auto start = std::chrono::steady_clock::now();
  for (const char* kibibytes : {"100000", "350000", "450000", "600000"}) {
    const std::string limit = std::string("ulimit -v ") + kibibytes;
    for (const char* arguments : {"--version", "--help", "doctor", "data list", "network list", "data show digits"}) {
      EXPECT_EQ(limited(folder, limit, arguments).status, 0) << limit << " " << arguments;
    }
    for (const char* threads : {"2", "8"}) expect_refusal(limited(folder, limit, fit + threads), {});
  }
  expect_refusal(limited(folder, "ulimit -v 350000", fit + "1"), {"address space", "ulimit -v"});
  EXPECT_EQ(limited(folder, "ulimit -v 2000000", fit + "2").status, 0);
  // Generous for a busy machine; the failure would be an endless loop.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120));
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"m.h5"}));
}

/// libgomp terminates the process if it cannot create a thread.
TEST(Limits, RefusedThreadsAreTold) {
  if (WIDELIMIT_SANITIZED != 0) GTEST_SKIP() << "sanitizers take a thread of their own";
  const Folder folder;
  fs::permissions(folder.path("."), fs::perms::all);
  // The limit does not apply to root.
  const std::string user = ::geteuid() == 0 ? "setpriv --reuid=65534 --clear-groups " : "";
  const auto as_user = [&](const std::string& words) { return folder.run({"bash", "-c", words}); };
  if (as_user("exec " + user + program_path() + " --version").status != 0) GTEST_SKIP() << "no other user may run it";
  const std::string fit =
      program_path() + " fit --network fc:1 --train digits --machine ridge --out m.h5 -q --threads ";
  const std::string shell = "exec " + user + "bash -c 'ulimit -u 4; exec ";
  expect_refusal(as_user(shell + fit + "64'"), {"the system grants", "threads of", "ulimit -u"});
  EXPECT_EQ(as_user(shell + fit + "1'").status, 0);
}

TEST(Limits, FewOpenFilesAreToldAsSuch) {
  if (WIDELIMIT_SANITIZED != 0) GTEST_SKIP() << "sanitizers take descriptors of their own";
  const Folder folder;
  folder.write("a.csv", "1,2,0\n3,4,1\n");
  ASSERT_EQ(folder
                .widelimit({"fit", "--network", "fc:1", "--train", "spirals", "--limit", "9", "--machine", "ridge",
                            "--out", "m.h5"})
                .status,
            0);
  int refused = 0;
  for (const char* arguments : {"data show a.csv", "predict --model m.h5 --test spirals -q",
                                "kernel --network fc:1 --train spirals --limit 9 --out k.h5 -q"}) {
    // The three standard streams, and fewer descriptors than HDF5 needs; HDF5 files are first opened in a child
    // process.
    for (const char* files : {"4", "5", "6", "7"}) {
      const Finished run = limited(folder, std::string("ulimit -n ") + files, arguments);
      if (run.status != 0) expect_refusal(run, {"Too many open files", "ulimit -n"});
      refused += run.status != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(refused, 2);
}

TEST(Limits, APermissionThatLacksIsToldAsSuch) {
  const Folder folder;
  // Root can read everything, unless it drops the capability.
  std::vector<std::string> words{"setpriv", "--bounding-set=-dac_override,-dac_read_search", program_path()};
  if (::geteuid() != 0) words.erase(words.begin(), words.begin() + 2);
  const auto as_anybody = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = words;
    all.insert(all.end(), arguments.begin(), arguments.end());
    return folder.run(all);
  };
  if (as_anybody({"--version"}).status != 0) GTEST_SKIP() << "this root cannot give up its rights";
  for (const char* name : {"a.csv", "a.npy", "a.npz", "a.h5", "a.libsvm"}) {
    folder.write(name, "1,2,0\n");
    fs::permissions(folder.path(name), fs::perms::none);
    const Finished run = as_anybody({"data", "show", name});
    EXPECT_EQ(run.status, 3) << run.err;
    EXPECT_NE(run.err.find("Permission denied"), std::string::npos) << run.err;
  }
}

/// A file that decompresses to a thousand times its size is refused before decompression.
TEST(Limits, MemoryBoundsReading) {
  const Folder folder;
  const Finished made =
      folder.run({"python3", "-c",
                  "import gzip, zipfile, struct\n"
                  "header = b\"{'descr': '<f8', 'fortran_order': False, 'shape': (4000, 4000), }\"\n"
                  "header += b' ' * (117 - len(header)) + b'\\n'\n"
                  "npy = b'\\x93NUMPY\\x01\\0' + struct.pack('<H', len(header)) + header + bytes(8 * 4000 * 4000)\n"
                  "with zipfile.ZipFile('a.npz', 'w', zipfile.ZIP_DEFLATED) as z: z.writestr('x.npy', npy)\n"
                  "gzip.open('a.npy.gz', 'wb').write(npy)\n"
                  "gzip.open('a.csv.gz', 'wb').write(b'0,0,0\\n' * 20_000_000)\n"
                  "open('a.libsvm', 'w').write('1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 100:1\\n' * 150_000)\n"});
  ASSERT_EQ(made.status, 0) << made.err;
  for (const char* name : {"a.npz", "a.npy.gz", "a.csv.gz", "a.libsvm"}) {
    const Finished run = folder.widelimit({"data", "show", name, "--memory", "100MiB"});
    expect_refusal(run, {name, "needs about", "the limit is 100 MiB", "allow more memory"});
    const std::size_t own = WIDELIMIT_SANITIZED != 0 ? std::size_t{1} << 30 : std::size_t{150} << 20;
    EXPECT_LT(run.peak_memory, own) << name;
  }
}

TEST(Limits, FilesOfOurOwnAreNeverWrittenThroughLinks) {
  for (const std::string beside : {"k.h5.part", "k.h5.journal"}) {
    const Folder folder;
    folder.write("victim", "precious");
    const std::vector<std::string> words{"kernel",  "--network", "fc:1",  "--train", "spirals",
                                         "--limit", "20",        "--out", "k.h5"};
    const auto expect_untouched = [&](const std::string& how) {
      expect_refusal(folder.widelimit(words), {beside});
      EXPECT_EQ(fs::file_size(folder.path("victim")), 8U) << how;
      EXPECT_FALSE(fs::exists(folder.path("k.h5"))) << how;
      EXPECT_TRUE(fs::exists(fs::symlink_status(folder.path(beside)))) << how << " is not ours to remove";
      fs::remove_all(folder.path(beside));
    };
    fs::create_symlink("victim", folder.path(beside));
    expect_untouched("symbolic link");
    fs::create_hard_link(folder.path("victim"), folder.path(beside));
    expect_untouched("hard link");
    fs::create_symlink("absent", folder.path(beside));
    expect_untouched("link to nothing");
    EXPECT_FALSE(fs::exists(folder.path("absent")));
    fs::create_directory(folder.path(beside));
    expect_untouched("folder");
    ASSERT_EQ(::mkfifo(folder.path(beside).c_str(), 0600), 0);
    expect_untouched("pipe");
    EXPECT_EQ(folder.widelimit(words).status, 0);
  }
}

TEST(Limits, WhatIsNoRegularFileIsNotWrittenTo) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe.npz").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(folder.path("pipe.h5").c_str(), 0600), 0);
  fs::create_directory(folder.path("folder.h5"));
  const std::string kernel = "kernel --network fc:1 --train spirals --limit 9 --out ";
  for (const char* name : {"pipe.npz", "pipe.h5", "folder.h5"}) {
    expect_refusal(folder.run({"bash", "-c", program_path() + " " + kernel + name}), {name, "not a regular file"});
  }
  const Finished page = folder.widelimit({"doctor", "--report", "/dev/null"});
  expect_refusal(page, {"/dev/null"});
}

}  // namespace
}  // namespace widelimit::test
