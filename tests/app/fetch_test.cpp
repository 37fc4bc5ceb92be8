#include "tests/app/program.hpp"
#include "tests/data/test_server.hpp"
#include "tests/paths.hpp"
#include "widelimit/data/fetch/sources.hpp"

#include <gtest/gtest.h>

namespace widelimit::test {
namespace {

namespace fs = std::filesystem;
using FetchWords = std::vector<std::string>;

/// Runs `fetch` of a table into the folder "data" of the test.
FetchWords fetch_iris(const std::string& address, const FetchWords& more = {}) {
  FetchWords words{"data", "fetch", "uci:iris", "--from", address, "--dir", "data"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// A file of the size of the real table with different contents.
std::string wrong_table() { return std::string(source_files("uci:iris")[0].bytes, '1'); }

TEST(FetchVerb, ControlCKeepsWhatCameAndTheNextRunGoesOn) {
  const std::string table = wrong_table();
  const TestServer server([&](const Request& request, const Line& line) {
    if (request.number > 0) return static_cast<void>(line.reply("404 Not Found", Line::length(0), ""));
    line.reply("200 OK", Line::length(table.size()) + "ETag: \"a\"\r\n", table.substr(0, 2000));
    line.hold();
  });
  const Folder folder;
  const Finished run =
      folder.interrupted(fetch_iris(server.address(), {"--progress"}), std::chrono::milliseconds(0), " %");
  EXPECT_EQ(run.status, 130) << run.err;
  EXPECT_NE(run.err.find("resumes from there"), std::string::npos) << run.err;
  EXPECT_EQ(fs::file_size(folder.path("data/uci/iris.csv.part")), 2000U);
  EXPECT_FALSE(fs::exists(folder.path("data/uci/iris.csv")));
  const Finished again = folder.widelimit(fetch_iris(server.address()));
  EXPECT_EQ(again.status, 3);
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(server.requests()[1].first, 2000U);
  EXPECT_EQ(server.requests()[1].if_range, "\"a\"");
}

TEST(FetchVerb, WrongContentsAndServersEndWithStatus3) {
  const std::string table = wrong_table();
  const Folder folder;
  std::string address;
  {
    const TestServer server([&](const Request&, const Line& line) { line.reply(table); });
    address = server.address();
    const Finished run = folder.widelimit(fetch_iris(address));
    EXPECT_EQ(run.status, 3);
    EXPECT_NE(run.err.find(source_files("uci:iris")[0].sha256), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("fetch it from a mirror (--from URL)"), std::string::npos) << run.err;
    EXPECT_TRUE(fs::is_empty(folder.path("data/uci")));
  }
  const Finished gone = folder.widelimit(fetch_iris(address));
  EXPECT_EQ(gone.status, 3);
  EXPECT_NE(gone.err.find("cannot be reached"), std::string::npos) << gone.err;
}

TEST(FetchVerb, OtherFilesAreReplacedWithForceOnly) {
  const Folder folder;
  fs::create_directories(folder.path("data/uci"));
  folder.write("data/uci/iris.csv", "1,2,0\n");
  const Finished run = folder.widelimit(fetch_iris("http://127.0.0.1:1"));
  EXPECT_EQ(run.status, 3);
  EXPECT_NE(run.err.find("(--force)"), std::string::npos) << run.err;
}

TEST(FetchVerb, AFullDiskEndsWithStatus5) {
  const std::string table = wrong_table();
  const TestServer server([&](const Request&, const Line& line) { line.reply(table); });
  const Folder folder;
  std::string command = "ulimit -f 2; exec " + program_path();  // 2 KiB
  for (const std::string& word : fetch_iris(server.address())) command += " " + word;
  const Finished run = folder.run({"bash", "-c", command});
  EXPECT_EQ(run.status, 5) << run.err;
  EXPECT_NE(run.err.find("free some space"), std::string::npos) << run.err;
}

TEST(FetchVerb, WrongWordsAreUsage) {
  const Folder folder;
  for (const FetchWords& words :
       {FetchWords{}, FetchWords{"mnits"}, FetchWords{"graphs"}, FetchWords{"mnist", "--from", "ftp://a"},
        FetchWords{"mnist", "--stall", "0"}, FetchWords{"mnist", "--retries", "-1"}}) {
    FetchWords all{"data", "fetch"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished run = folder.widelimit(all);
    EXPECT_EQ(run.status, 2) << run.err;
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(FetchVerb, MissingSetsNameTheCommand) {
  const Folder folder;
  const std::string cache = "XDG_CACHE_HOME=" + folder.path("cache").string();
  const auto run = [&](const FetchWords& words) {
    FetchWords all{"env", "-u", "WIDELIMIT_DATA", cache, program_path()};
    all.insert(all.end(), words.begin(), words.end());
    return folder.run(all);
  };
  for (const char* spec : {"mnist:train", "cifar10:test", "uci:iris"}) {
    const Finished missing = run({"data", "show", spec});
    EXPECT_EQ(missing.status, 3);
    const std::string name = std::string_view(spec).starts_with("uci") ? spec : std::string(spec, 5);
    EXPECT_NE(missing.err.find("widelimit data fetch " + name), std::string::npos) << missing.err;
  }
  for (const char* verb : {"doctor", "data"}) {
    const Finished list = run(verb == std::string("data") ? FetchWords{"data", "list"} : FetchWords{verb});
    EXPECT_EQ(list.status, 0);
    EXPECT_NE(list.out.find("widelimit data fetch mnist"), std::string::npos) << list.out;
  }
  const auto sets = run({"data", "list", "--json"}).record()["results"]["sets"];
  for (const auto& set : sets) {
    const bool offered =
        set["spec"] == "mnist:train|test" || set["spec"] == "cifar10:train|test" || set["spec"] == "uci:NAME";
    EXPECT_EQ(!set["fetch"].get<std::string>().empty(), offered) << set;
  }
}

}  // namespace
}  // namespace widelimit::test
