#include "widelimit/data/formats/standard_input.hpp"

#include "fixture.hpp"
#include "packed.hpp"
#include "widelimit/data/formats/npy.hpp"
#include "widelimit/data/request.hpp"

#include <signal.h>
#include <unistd.h>

#include <thread>

namespace widelimit {
namespace {

/// Redirects standard input to a pipe that holds `contents` and is closed unless `open`; restores it on destruction.
class Piped {
 public:
  explicit Piped(const std::string& contents, bool open = false) : before_(::dup(STDIN_FILENO)) {
    int ends[2] = {-1, -1};
    ::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe(ends), 0);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    writer_ = std::thread([end = ends[1], contents, open] {
      // Writes one byte first, so that the signature arrives in pieces.
      for (std::size_t at = 0; at < contents.size();) {
        const ssize_t put = ::write(end, contents.data() + at, at == 0 ? 1 : contents.size() - at);
        if (put <= 0) break;
        at += static_cast<std::size_t>(put);
      }
      if (!open) ::close(end);
    });
    if (open) open_ = ends[1];
  }
  ~Piped() {
    ::dup2(before_, STDIN_FILENO);  // first, since the writer blocks until its reader is closed
    ::close(before_);
    writer_.join();
    if (open_ >= 0) ::close(open_);
  }
  Piped(const Piped&) = delete;
  Piped& operator=(const Piped&) = delete;

 private:
  int before_;
  int open_ = -1;
  std::thread writer_;
};

TEST(StandardInput, IsATable) {
  const Piped piped("a,b,kind\n1,2,cat\n3,4,dog\n");
  const Dataset data = load_data("-");
  EXPECT_EQ(data.name, "-");
  EXPECT_EQ(data.count(), 2);
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(data.layout.columns[1].name, "b");
}

TEST(StandardInput, MayBePacked) {
  const Piped piped(packed_stream("1\t2\t0\n3\t4\t1\n", ARCHIVE_FILTER_GZIP));
  const Dataset data = load_data("tsv:-");
  EXPECT_EQ(value(data, 1, 1), 4);
}

TEST(StandardInput, OtherFormats) {
  {
    const Piped piped("+1 1:2 3:4\n-1 2:1\n");
    EXPECT_EQ(load_data("libsvm:-").shape.size(), 3);
  }
  const double numbers[] = {1, 2, 3, 4, 5, 6};
  const std::string body(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  const Piped piped(npy_header("<f8", {2, 3}) + body);
  const Dataset data = load_data("npy:-");
  EXPECT_EQ(value(data, 1, 2), 6);
  EXPECT_FALSE(data.labelled());
}

TEST(StandardInput, NothingOrWrongThingsAreErrors) {
  {
    const Piped piped("");
    expect_error(Code::input, {"standard input is empty"}, [] { (void)load_data("-"); });
  }
  {
    const Piped piped("1,2,0\n3,x,1\n");
    expect_error(Code::input, {"standard input, line 2"}, [] { (void)load_data("-"); });
  }
  DataRequest twice;
  twice.train = "-";
  twice.test = "csv:-";
  expect_error(Code::usage, {"standard input", "once"}, [&] { (void)load_train_test(twice); });
}

TEST(StandardInput, KeepsToTheMemoryThatIsAllowed) {
  const Piped piped(std::string(1 << 20, '1'));
  DataOptions options;
  options.limits.memory = 1 << 16;
  expect_error(Code::resource, {"standard input"}, [&] { (void)load_data("-", options); });
}

TEST(StandardInput, AsTestSamplesOfFewerColumns) {
  DataRequest request;
  const std::string name = "train.libsvm";
  const auto folder = std::filesystem::temp_directory_path() / ("widelimit-input-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / name) << "1 1:1 3:2\n0 2:1\n";
  request.train = (folder / name).string();
  request.test = "libsvm:-";
  {
    const Piped piped("1 1:5\n0 2:6\n");
    const TrainTest parts = load_train_test(request);
    EXPECT_EQ(parts.test->shape.size(), 3);
    EXPECT_EQ(value(*parts.test, 1, 1), 6);
  }
  std::filesystem::remove_all(folder);
}

/// Stops at the second update.
class StopAtSecondUpdate final : public Progress {
 public:
  bool update(std::int64_t, std::int64_t, std::string_view) override { return ++updates_ < 2; }

 private:
  int updates_ = 0;
};

TEST(StandardInput, WaitingCanBeInterrupted) {
  const Piped piped("1,2\n", true);
  StopAtSecondUpdate stop;
  DataOptions options;
  options.limits.progress = &stop;
  expect_error(Code::interrupted, {}, [&] { (void)load_data("-", options); });
}

}  // namespace
}  // namespace widelimit
