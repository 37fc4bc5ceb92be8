#include "tests/app/program.hpp"
#include "tests/paths.hpp"

#include <gtest/gtest.h>

namespace widelimit::test {
namespace {

const std::string table = "a,b,kind\n0,1,x\n1,0,y\n0.2,0.9,x\n0.8,0.1,y\n";

/// Runs a shell command in which $0 is the program.
Finished shell(const Folder& folder, const std::string& line) { return folder.run({"sh", "-c", line, program_path()}); }

TEST(StandardInput, FitAndPredictInAPipe) {
  const Folder folder;
  folder.write("t.csv", table);
  const Finished fit = shell(
      folder, "\"$0\" fit --network 'fc:1(b_std=1)' --machine ridge --lambda 0.01 --train - --out m.h5 --json < t.csv");
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_EQ(fit.record()["settings"]["data"]["train"], "-");

  // Columns are matched by name, in another order and without the label, as in a file.
  const Finished piped =
      shell(folder, "printf 'b,a\\n1,0\\n0,1\\n' | \"$0\" predict --model m.h5 --test - --out p.csv --json");
  ASSERT_EQ(piped.status, 0) << piped.err;
  const Finished file = shell(folder,
                              "printf 'b,a\\n1,0\\n0,1\\n' > n.csv; \"$0\" predict --model m.h5 --test n.csv --out "
                              "q.csv --json; cmp p.csv q.csv");
  EXPECT_EQ(file.status, 0) << file.out << file.err;
}

TEST(StandardInput, WrongUses) {
  const Folder folder;
  const std::string fit = "\"$0\" fit --network fc:1 --machine ridge --lambda 0.01 --out m.h5 ";
  const Finished empty = shell(folder, fit + "--train - < /dev/null");
  EXPECT_EQ(empty.status, 3);
  EXPECT_NE(empty.err.find("standard input is empty"), std::string::npos) << empty.err;
  const Finished twice = shell(folder, fit + "--train - --test - < /dev/null");
  EXPECT_EQ(twice.status, 2);
  EXPECT_NE(twice.err.find("only one of the training and the test samples"), std::string::npos) << twice.err;
}

TEST(StandardInput, WaitingEndsWithAnInterrupt) {
  const Folder folder;
  // A pipe without data whose other end stays open, because the program itself inherits it.
  ASSERT_EQ(folder.run({"mkfifo", "pipe"}).status, 0);
  const Finished run = folder.run(
      {"sh", "-c", "\"$0\" data show - <> pipe & id=$!; sleep 0.5; kill -INT $id; wait $id", program_path()});
  EXPECT_EQ(run.status, 130) << run.err;
}

}  // namespace
}  // namespace widelimit::test
