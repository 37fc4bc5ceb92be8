#include "tests/app/program.hpp"
#include "tests/paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

/// Expects `kernel` on `spec` to end with `status` and one message that contains all of `parts`, and to leave no file.
void expect_ending(const Folder& folder, const std::string& network, const std::string& spec, const Words& more,
                   int status, const Words& parts) {
  Words words{"kernel", "--network", network, "--train", spec};
  words.insert(words.end(), more.begin(), more.end());
  if (std::find(more.begin(), more.end(), "--out") == more.end()) words.insert(words.end(), {"--out", "k.npz"});
  const auto before = folder.names();
  const Finished run = folder.widelimit(words);
  EXPECT_EQ(run.status, status) << run.err;
  EXPECT_TRUE(run.out.empty()) << run.out;
  EXPECT_TRUE(run.err.starts_with("widelimit: error: ")) << run.err;
  for (const std::string& part : parts) EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
  EXPECT_EQ(folder.names(), before);
}

TEST(Statuses, ABadNetworkNamesLayerAndPlace) {
  const Folder folder;
  expect_ending(folder, "dense rellu dense", "digits", {}, 3, {"'rellu'", "character 7", "relu"});
  expect_ending(folder, "conv(kernel=9,padding=VALID) relu flatten dense", "digits", {}, 3, {"conv", "1"});
  folder.write("net.json", "[[\"dense\"], [\"relu\"");
  expect_ending(folder, "net.json", "digits", {}, 3, {"net.json"});
  expect_ending(folder, "missing.json", "digits", {}, 3, {"missing.json"});
  expect_ending(folder, "max_pool flatten dense", "digits", {"--method", "exact"}, 2, {"max_pool"});
}

TEST(Statuses, BadDataNameTheirPlace) {
  const Folder folder;
  folder.write("bad.csv", "1,2,a\n3,b\n");
  folder.write("nan.csv", "1,2,0\nnan,4,1\n");
  folder.write("bad.npy", "\x93NUMPY\x01");
  folder.write("bad.npz", "PK no zip");
  folder.write("bad.h5", "\x89HDF\r\n\x1a\n");
  expect_ending(folder, "fc:1", "missing.csv", {}, 3, {"missing.csv"});
  expect_ending(folder, "fc:1", "bad.csv", {}, 3, {"bad.csv", "line 2"});
  expect_ending(folder, "fc:1", "nan.csv", {}, 3, {"nan.csv", "line 2"});
  expect_ending(folder, "fc:1", "bad.npy", {}, 3, {"bad.npy"});
  expect_ending(folder, "fc:1", "bad.npz", {}, 3, {"bad.npz"});
  expect_ending(folder, "fc:1", "bad.h5", {}, 3, {"bad.h5"});
  expect_ending(folder, "fc:1", "digits", {"--classes", "11"}, 3, {"11"});
}

TEST(Statuses, RealOverflowIsNumerical) {
  const Folder folder;
  folder.write("large.csv", "1e30,1e30,0\n2e30,1e30,1\n");
  expect_ending(folder, "fc:1", "large.csv", {"--precision", "f32"}, 4, {"f32"});
  EXPECT_EQ(folder.widelimit({"kernel", "--network", "fc:1", "--train", "large.csv", "--out", "k.npz"}).status, 0);
}

TEST(Statuses, ResourcesAreCheckedBeforeTheWork) {
  const Folder folder;
  expect_ending(folder, "fc:1", "digits", {"--memory", "2MiB"}, 5, {"2 MiB", "--limit", "--memory"});
  expect_ending(folder, "fc:1", "digits", {"--out", "none/k.npz"}, 5, {"none/k.npz", "make its folder first"});
  expect_ending(folder, "fc:1", "digits", {"--report", "none/r.html"}, 5, {"none/r.html"});
  expect_ending(folder, "fc:20", "digits", {"--sweep", "--memory", "1GiB"}, 5, {"1 GiB"});
}

TEST(Statuses, StandardOutputThatCannotBeWritten) {
  const Finished run = Folder().run({"bash", "-c", program_path() + " doctor > /dev/full"});
  EXPECT_EQ(run.status, 5);
  EXPECT_NE(run.err.find("standard output"), std::string::npos) << run.err;
}

TEST(Statuses, AnInterruptLeavesNothingBehind) {
  const Folder folder;
  // The reference back end needs more than half a minute for this, and checks for the interrupt after every tile.
  const Finished run = folder.interrupted({"kernel", "--network", "fc:9", "--train", "spirals(n=6000)", "--backend",
                                           "reference", "--out", "k.npz", "--progress"},
                                          std::chrono::milliseconds(500), "pairs/s");
  EXPECT_EQ(run.status, 130) << run.err;
  EXPECT_NE(run.err.find("widelimit: error: "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("pairs/s"), std::string::npos) << run.err;
  EXPECT_TRUE(run.out.empty());
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace widelimit::test
