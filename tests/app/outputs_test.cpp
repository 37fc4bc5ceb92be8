#include "tests/app/program.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class Outputs : public testing::Test {
 protected:
  /// Expects status 2, a message with `part`, and that `kept` is unchanged.
  void refused(const Words& words, const std::string& part, const std::string& kept) const {
    const std::string before = contents(folder.path(kept));
    ASSERT_FALSE(before.empty()) << kept;
    const Finished run = folder.widelimit(words);
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
    EXPECT_EQ(contents(folder.path(kept)), before) << run.err;
  }
  void made(const Words& words) const {
    const Finished run = folder.widelimit(words);
    ASSERT_EQ(run.status, 0) << run.err;
  }
  const Words samples{"--train", "digits", "--classes", "3,8", "--limit", "40", "--scale", "unit"};
  const Folder folder;
};

TEST_F(Outputs, AKernelIsNotReplacedByItsLabelAwareOne) {
  made(joined({"kernel", "--network", "fc:1", "--out", "theta.h5"}, samples));
  std::filesystem::create_symlink("theta.h5", folder.path("link.h5"));
  std::filesystem::create_hard_link(folder.path("theta.h5"), folder.path("other.h5"));
  const Words aware = joined({"kernel", "--network", "fc:1", "--gram", "theta.h5", "--label-aware", "kr1"}, samples);
  for (const char* out : {"theta.h5", "./theta.h5", "link.h5", "other.h5"}) {
    refused(joined(aware, {"--out", out, "--force"}), "is the file that --gram reads", "theta.h5");
  }
  refused(joined({"fit", "--network", "fc:1", "--machine", "ridge", "--gram", "theta.h5", "--out", "link.h5"}, samples),
          "--gram", "theta.h5");
}

TEST_F(Outputs, DoNotReplaceInputsOfAnyVerb) {
  folder.write("d.csv", "a,b,y\n1,0,0\n0,1,1\n1,1,0\n0,2,1\n2,0,0\n0,3,1\n");
  folder.write("net.json", "[[\"dense\"], [\"relu\"], [\"dense\"]]");
  folder.write("folds.csv", "0 1 2 3\n4 5\n");
  const Words fit{"fit", "--network", "net.json", "--train", "d.csv", "--machine", "ridge"};
  made(joined(fit, {"--out", "m.h5"}));
  const Words predict{"predict", "--model", "m.h5", "--test", "d.csv"};
  refused(joined(predict, {"--out", "d.csv"}), "--test", "d.csv");
  refused(joined(predict, {"--report", "./d.csv"}), "--test", "d.csv");
  refused(joined(predict, {"--report", "m.h5"}), "--model", "m.h5");
  refused(joined(fit, {"--out", "n.h5", "--report", "net.json"}), "--network", "net.json");
  refused({"bound", "--model", "m.h5", "--train", "d.csv", "--report", "m.h5"}, "--model", "m.h5");
  refused({"equivalence", "--network", "fc:1", "--train", "d.csv", "--widths", "8", "--report", "d.csv"}, "--train",
          "d.csv");
  refused({"likelihood", "--network", "fc:1", "--train", "d.csv", "--report", "d.csv"}, "--train", "d.csv");
  refused({"data", "show", "d.csv", "--report", "d.csv"}, "SPEC", "d.csv");
  const Words compare{"compare", "--train", "d.csv", "--networks", "fc:1; net.json", "--folds", "folds.csv"};
  refused(joined(compare, {"--out", "folds.csv"}), "--folds", "folds.csv");
  refused(joined(compare, {"--out", "net.json"}), "--networks", "net.json");
  refused({"kernel", "--classical", "linear", "--train", "k.npz(x=x)", "--out", "k.npz"}, "--train", [&] {
    made({"kernel", "--classical", "linear", "--train", "d.csv", "--out", "k.npz"});
    return "k.npz";
  }());
  // A file that no option names is replaced by a page only if it is one.
  folder.write("notes.txt", "precious");
  refused({"data", "list", "--report", "notes.txt"}, "is not a page", "notes.txt");
  made({"data", "list", "--report", "page.html"});
  made({"data", "list", "--report", "page.html"});
}

TEST_F(Outputs, AreDifferentFiles) {
  const Words train = joined({"train", "--network", "fc:1", "--width", "8", "--steps", "4"}, samples);
  folder.write("keep", "-");
  refused(joined(train, {"--out", "a.h5", "--checkpoint", "./a.h5"}), "are the same file", "keep");
  refused(joined(train, {"--out", "a.h5", "--report", "a.h5"}), "are the same file", "keep");
  refused({"compare", "--train", "digits", "--out", "a.csv", "--report", "a.csv"}, "are the same file", "keep");
}

/// A checkpoint continues in its own file, but the network of a finished training is no checkpoint.
TEST_F(Outputs, ACheckpointContinuesInItsFile) {
  const Words train = joined({"train", "--network", "fc:1", "--width", "8"}, samples);
  made(joined(train, {"--steps", "4", "--checkpoint", "c.h5", "--out", "net.h5"}));
  made(joined(train, {"--steps", "8", "--from", "c.h5", "--checkpoint", "c.h5"}));
  refused(joined(train, {"--steps", "8", "--from", "c.h5", "--out", "c.h5"}), "--from", "c.h5");
  refused(joined(train, {"--steps", "8", "--from", "net.h5", "--checkpoint", "net.h5"}), "--from", "net.h5");
}

TEST_F(Outputs, FetchedFilesAreNotReplacedByThePage) {
  folder.write("keep", "-");
  refused({"data", "fetch", "uci:iris", "--dir", "d", "--report", "d/uci/iris.csv"}, "to be fetched", "keep");
}

}  // namespace
}  // namespace widelimit::test
