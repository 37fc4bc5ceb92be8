#include "fetch_fixture.hpp"
#include "packed.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/fetch/part_file.hpp"
#include "widelimit/data/file/location.hpp"
#include "widelimit/data/formats/archive.hpp"

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <set>

namespace widelimit {
namespace {

using test::FetchFolder;
using test::Line;
using test::Request;
using test::TestServer;

class FetchSets : public FetchFolder {};

/// Stops once some bytes were reported.
class StopAtBytes final : public Progress {
 public:
  bool update(std::int64_t done, std::int64_t total, std::string_view unit) override {
    EXPECT_EQ(unit, "B");
    EXPECT_LE(done, total);
    last_total = total;
    last_done = done;
    return done == 0 || !stop;
  }
  bool stop = true;
  std::int64_t last_done = -1;
  std::int64_t last_total = -1;
};

TEST_F(FetchSets, StoppedTransfersAreKeptAndGoneOnWith) {
  StopAtBytes progress;
  options_.progress = &progress;
  const TestServer server([&](const Request& request, const Line& line) {
    if (request.number == 0) {
      line.reply("200 OK", Line::length(body_.size()) + tag, body_.substr(0, 70'000));
      line.hold();
    } else {
      serve(request, line);
    }
  });
  expect_error(Code::interrupted, {"kept", "resumes"}, [&] { fetch(server); });
  EXPECT_EQ(part_size(), 70'000U);
  EXPECT_FALSE(std::filesystem::exists(target()));
  progress.stop = false;
  fetch(server);
  EXPECT_EQ(server.requests()[1].first, 70'000U);
  expect_complete();
  // Progress counts only the bytes of this call.
  EXPECT_EQ(progress.last_done, 30'003);
  EXPECT_EQ(progress.last_total, 30'003);
}

/// Stops while waiting for the next attempt, or for an unresponsive server.
TEST_F(FetchSets, NothingIsWaitedForOnceItShallStop) {
  class StopAtSecondUpdate final : public Progress {
   public:
    bool update(std::int64_t, std::int64_t, std::string_view) override { return ++calls < 3; }
    int calls = 0;
  };
  options_.pause = 600;
  options_.stall = 600;
  for (const bool silent : {false, true}) {
    StopAtSecondUpdate progress;
    options_.progress = &progress;
    const TestServer server([&](const Request&, const Line& line) {
      silent ? line.hold() : static_cast<void>(line.reply("503 Busy", Line::length(0), ""));
    });
    const auto start = std::chrono::steady_clock::now();
    expect_error(Code::interrupted, {}, [&] { fetch(server); });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
    expect_nothing();
  }
}

/// A file size limit makes the same write fail as a full disk.
TEST_F(FetchSets, AFullDiskIsTold) {
  const TestServer server([&](const Request& request, const Line& line) { serve(request, line); });
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 50'000, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &small);
  expect_error(Code::resource, {"file.bin.part", "free some space"}, [&] { fetch(server); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(std::filesystem::exists(target()));
  fetch(server);
  expect_complete();
  file_.bytes = std::uint64_t{1} << 62U;
  file_.place = "x/huge.bin";
  expect_error(Code::resource, {"needs", "left", "choose another folder"}, [&] { fetch(server); });
}

TEST_F(FetchSets, FoldersThatCannotBeMadeAreTold) {
  options_.folder = put("file", "no folder");
  const TestServer server([&](const Request& request, const Line& line) { serve(request, line); });
  expect_error(Code::resource, {"folder"}, [&] { fetch(server); });
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(FetchSets, OneProcessAtATime) {
  std::filesystem::create_directories(path("data/x"));
  const TestServer server([&](const Request& request, const Line& line) { serve(request, line); });
  {
    const PartFile held(target());
    expect_error(Code::resource, {"another process"}, [&] { fetch(server); });
  }
  fetch(server);
  expect_complete();
}

TEST_F(FetchSets, WhatLiesInTheWayIsNotTakenOver) {
  const TestServer server([&](const Request& request, const Line& line) { serve(request, line); });
  put("data/x/file.bin", "my own");
  expect_error(Code::input, {"file.bin", "differs", "replace it"}, [&] { fetch(server); });
  EXPECT_EQ(contents(target()), "my own");
  EXPECT_TRUE(server.requests().empty());
  options_.replace = true;
  fetch(server);
  expect_complete();
  options_.replace = false;
  std::filesystem::remove(target());
  // A part that is too long, one without a source, and a symbolic link.
  for (const std::string& left : {body_ + body_, std::string("something")}) {
    put("data/x/file.bin.part", left);
    fetch(server);
    expect_complete();
    std::filesystem::remove(target());
  }
  std::filesystem::create_symlink(put("precious", "keep"), path("data/x/file.bin.part"));
  expect_error(Code::resource, {"file.bin.part"}, [&] { fetch(server); });
  EXPECT_EQ(contents(path("precious")), "keep");
}

/// Complete, but not renamed: only the checksum remains to be verified.
TEST_F(FetchSets, ACompletePartNeedsNoServer) {
  put("data/x/file.bin.part", body_);
  options_.mirror = "http://127.0.0.1:1";
  EXPECT_TRUE(fetch_files({file_}, options_)[0].fetched);
  expect_complete();
}

TEST_F(FetchSets, ArchivesAreUnpackedAndNotKept) {
  body_ = packed_tar("members", ARCHIVE_FILTER_GZIP);
  file_ = {"x", "", "x/file.tar.gz", body_.size(), sum_of(body_), {"a/one"}};
  const TestServer server([&](const Request& request, const Line& line) { serve(request, line); });
  const auto files = fetch(server);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].path, path("data/x/a/one"));
  EXPECT_EQ(contents(files[0].path), "members");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
  EXPECT_FALSE(fetch(server)[0].fetched);
  // Extraction was interrupted, or the user placed the archive: it is not fetched again, and in the latter case kept.
  for (const std::string& name : std::vector<std::string>{"file.tar.gz.part", "file.tar.gz"}) {
    std::filesystem::remove_all(path("data/x/a"));
    put("data/x/" + name, body_);
    EXPECT_TRUE(fetch(server)[0].fetched);
    EXPECT_EQ(contents(files[0].path), "members");
    EXPECT_EQ(std::filesystem::exists(path("data/x/" + name)), name == "file.tar.gz");
  }
  EXPECT_EQ(server.requests().size(), 1U);
  file_.members = {"three"};
  expect_error(Code::input, {"three"}, [&] { fetch(server); });
}

TEST(FetchOptionsCheck, RefusesWhatMakesNoSense) {
  const auto refused = [](const auto& change) {
    FetchOptions options;
    change(options);
    expect_error(Code::usage, {}, [&] { options.validate(); });
  };
  FetchOptions{}.validate();
  for (const char* mirror : {"ftp://a", "file:///etc", "example.org", "http://", "https://"}) {
    refused([&](FetchOptions& options) { options.mirror = mirror; });
  }
  for (const double bad : {0.0, -1.0, 1e9, std::nan("")}) refused([&](FetchOptions& o) { o.stall = bad; });
  for (const double bad : {-1.0, 1e9, std::nan("")}) refused([&](FetchOptions& o) { o.pause = bad; });
  for (const int bad : {-1, 101}) refused([&](FetchOptions& o) { o.retries = bad; });
}

TEST(FetchNames, EveryFileHasItsAddressSizeAndSum) {
  std::set<std::string> places;
  for (const char* name : {"mnist", "cifar10", "uci"}) {
    for (const SourceFile& file : source_files(name)) {
      EXPECT_TRUE(places.insert(file.place).second) << file.place;
      EXPECT_TRUE(file.url.starts_with("https://")) << file.url;
      EXPECT_EQ(file.sha256.size(), 64U) << file.place;
      EXPECT_EQ(file.sha256.find_first_not_of("0123456789abcdef"), std::string::npos) << file.place;
      EXPECT_GT(file.bytes, 0U) << file.place;
    }
  }
  EXPECT_EQ(places.size(), 4U + 1U + 90U);
  EXPECT_EQ(source_files("mnist:test").size(), 2U);
  EXPECT_EQ(source_files("cifar10:train")[0].members.size(), 6U);
  EXPECT_EQ(source_files("uci:iris")[0].place, "uci/iris.csv");
  EXPECT_EQ(source_files("iris")[0].place, "uci/iris.csv");
  for (const char* bad : {"", "mnits", "mnist:valid", "uci:nosuch", "digits", "spirals"}) {
    expect_error(Code::usage, {"mnist, cifar10, uci"}, [&] { (void)source_files(bad); });
  }
  expect_error(Code::usage, {"powerful-gnns", "WIDELIMIT_DATA"}, [] { (void)source_files("graphs:MUTAG"); });
  expect_error(Code::usage, {"mnist"}, [] { (void)fetch_data({}); });
  EXPECT_EQ(fetch_name("mnist:train|test"), "mnist");
  EXPECT_EQ(fetch_name("digits"), "");
}

/// The real checksums: a table of the collection, served from the local copy.
TEST_F(FetchSets, AFetchedTableIsFoundByTheCatalogue) {
  const auto archive = find_data_file({"uci/uci.tar.xz"});
  if (!archive || std::getenv("WIDELIMIT_DATA") == nullptr) GTEST_SKIP() << "no UCI tables in $WIDELIMIT_DATA";
  body_.clear();
  for (Archive members(*archive); members.next();) {
    if (members.member().ends_with("balloons.csv")) body_ = as_text(members.read());
  }
  ASSERT_FALSE(body_.empty());
  const TestServer server([&](const Request& request, const Line& line) { serve(request, line, 300); });
  options_.mirror = server.address() + "/";
  const auto files = fetch_data({"uci:balloons", "balloons"}, options_);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(server.requests()[0].path, "/uci/balloons.csv");
  const std::string before = std::getenv("WIDELIMIT_DATA");
  ::setenv("WIDELIMIT_DATA", options_.folder.c_str(), 1);
  EXPECT_EQ(load_data("uci:balloons").count(), 16);
  EXPECT_EQ(load_data("uci:balloons").name, "uci:balloons");
  ::setenv("WIDELIMIT_DATA", before.c_str(), 1);
}

}  // namespace
}  // namespace widelimit
