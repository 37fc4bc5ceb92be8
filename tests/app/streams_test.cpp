#include "tests/app/program.hpp"
#include "tests/paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit::test {
namespace {

namespace fs = std::filesystem;

/// Runs the program in a shell that redirects its streams.
int status_of(const Folder& folder, const std::string& arguments, const std::string& redirection) {
  // The status is that of the program, even if a pipe follows.
  return folder.run({"bash", "-c", program_path() + " " + arguments + " " + redirection + "; exit ${PIPESTATUS[0]}"})
      .status;
}

constexpr const char* spirals = " --network fc:1 --train spirals --limit 20 ";

/// One run of every printing verb, with its exit status if everything can be written.
std::vector<std::pair<std::string, int>> commands() {
  const std::string data = spirals;
  return {{"--version", 0},
          {"--help", 0},
          {"kernel --help", 0},
          {"doctor", 0},
          {"doctor --json", 0},
          {"data list", 0},
          {"data show spirals", 0},
          {"network list", 0},
          {"network show fc:2", 0},
          {"experiment list", 0},
          {"kernel" + data + "--out k.npz", 0},
          {"kernel" + data + "--out k.h5 --json --progress", 0},
          {"fit" + data + "--machine svm --out m.h5", 0},
          {"tune" + data + "--machine ridge", 0},
          {"compare --train spirals --kernels rbf --folds 2", 0},
          {"likelihood" + data + "--noise 0.1", 0},
          {"flow" + data + "--loss squared --lambda 0.1 --times 0,1", 0},
          {"ensemble" + data + "--times 0,1", 0},
          {"kernel --network nosuch --train spirals --out k.npz", 3},
          {"kernel --nosuch", 2}};
}

TEST(Streams, AnUnwritableStandardErrorLosesMessagesOnly) {
  const Folder folder;
  for (const auto& [arguments, status] : commands()) {
    for (const char* redirection : {"2>/dev/full", "2>&-", "<&- 2>&-"}) {
      EXPECT_EQ(status_of(folder, arguments, redirection), status) << arguments << " " << redirection;
    }
  }
  EXPECT_EQ(status_of(folder, "predict --model m.h5 --test spirals", "2>/dev/full"), 0);
}

TEST(Streams, AnUnwritableStandardOutputIsAResourceError) {
  const Folder folder;
  for (const auto& [arguments, status] : commands()) {
    for (const char* redirection : {">/dev/full", ">&-", "| head -c 0", ">&- 2>&-", ">/dev/full 2>/dev/full"}) {
      EXPECT_EQ(status_of(folder, arguments, redirection), status == 0 ? 5 : status) << arguments << " " << redirection;
    }
  }
}

/// The next opened file gets the descriptor of a closed standard error; messages were once written into the kernel
/// file.
TEST(Streams, MessagesNeverGoIntoAFile) {
  const Folder folder;
  const std::string kernel = std::string("kernel") + spirals + "--out ";
  EXPECT_EQ(status_of(folder, kernel + "whole.h5", ""), 0);
  EXPECT_EQ(status_of(folder, kernel + "k.h5", ">&- 2>&- <&-"), 5);
  EXPECT_EQ(fs::file_size(folder.path("k.h5")), fs::file_size(folder.path("whole.h5")));
  EXPECT_EQ(folder
                .widelimit({"fit", "--network", "fc:1", "--train", "spirals", "--limit", "20", "--gram", "k.h5",
                            "--machine", "ridge", "--out", "m.h5"})
                .status,
            0);
}

TEST(Streams, FilesAreWrittenBeforeStandardOutputFails) {
  const Folder folder;
  EXPECT_EQ(status_of(folder, std::string("fit") + spirals + "--machine ridge --out m.h5", ">/dev/full"), 5);
  EXPECT_EQ(status_of(folder, "predict --model m.h5 --test spirals --out p.csv", ">&-"), 5);
  EXPECT_TRUE(fs::exists(folder.path("p.csv")));
  EXPECT_EQ(status_of(folder, std::string("kernel") + spirals + "--out k.npz -q", ">&-"), 0);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"k.npz", "m.h5", "p.csv"}));
}

}  // namespace
}  // namespace widelimit::test
