#include "widelimit/data/labels/folds.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

using RowList = std::vector<Index>;

std::string refusal(std::string_view text) {
  try {
    (void)parse_folds(as_bytes(text), "folds.txt");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input);
    return error.what();
  }
  return "";
}

TEST(Folds, AreLinesOfTrainingAndTestRowsInTurn) {
  const auto folds = parse_folds(as_bytes("# two folds\n0 1 2 \n3, 4\r\n\n3\t4\n0"), "folds.txt");
  ASSERT_EQ(folds.size(), 2U);
  EXPECT_EQ(folds[0].train, (RowList{0, 1, 2}));
  EXPECT_EQ(folds[0].test, (RowList{3, 4}));
  EXPECT_EQ(folds[1].train, (RowList{3, 4}));
  EXPECT_EQ(folds[1].test, (RowList{0}));
}

TEST(Folds, AreTheSameAsJson) {
  const auto folds =
      parse_folds(as_bytes(R"( [{"train": [0, 1], "test": [2]}, {"test": [0], "train": [2, 1]}] )"), "f");
  ASSERT_EQ(folds.size(), 2U);
  EXPECT_EQ(folds[0].train, (RowList{0, 1}));
  EXPECT_EQ(folds[1].train, (RowList{2, 1}));
  EXPECT_EQ(folds[1].test, (RowList{0}));
}

TEST(Folds, NameWhatTheyCannotRead) {
  EXPECT_NE(refusal("").find("no folds"), std::string::npos);
  EXPECT_NE(refusal("[]").find("no folds"), std::string::npos);
  EXPECT_NE(refusal("0 1\n2\n0 2\n").find("fold 2"), std::string::npos);
  EXPECT_NE(refusal("0 1\n2 x\n").find("line 2: 'x'"), std::string::npos);
  EXPECT_NE(refusal("0 -1\n2\n").find("line 1: '-1'"), std::string::npos);
  EXPECT_NE(refusal("0 1.5\n2\n").find("'1.5'"), std::string::npos);
  EXPECT_NE(refusal("0 99999999999999999999\n2\n").find("line 1"), std::string::npos);
  EXPECT_NE(refusal(R"({"train": [0]})").find("not a JSON list"), std::string::npos);
  EXPECT_NE(refusal(R"([{"train": [0]}])").find("\"test\""), std::string::npos);
  EXPECT_NE(refusal(R"([{"train": [0], "test": [-1]}])").find("-1"), std::string::npos);
  EXPECT_NE(refusal("[{").find("not a JSON list"), std::string::npos);
}

std::string violation(const std::vector<SplitRows>& folds, Index samples, const RowList& labels = {}) {
  try {
    (void)check_folds(folds, samples, labels);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input);
    return error.what();
  }
  return "";
}

TEST(Folds, AreComparedWithTheSamples) {
  EXPECT_EQ(violation({{{0, 1}, {2}}}, 3), "");
  EXPECT_NE(violation({{{0, 1}, {3}}}, 3).find("test row 3 of fold 1"), std::string::npos);
  EXPECT_NE(violation({{{0, 1}, {2}}, {{0, 2}, {2}}}, 3).find("fold 2 both"), std::string::npos);
  EXPECT_NE(violation({{{0, 0}, {2}}}, 3).find("twice"), std::string::npos);
  EXPECT_NE(violation({{{}, {2}}}, 3).find("no training rows"), std::string::npos);
  EXPECT_NE(violation({{{0, 1}, {}}}, 3).find("no test rows"), std::string::npos);
  EXPECT_NE(violation({{{0, 1}, {2}}}, 3, {1, 1, 0}).find("one class"), std::string::npos);
  EXPECT_NE(violation({}, 3).find("no folds"), std::string::npos);
}

TEST(Folds, TellWhatAReaderShouldKnow) {
  EXPECT_TRUE(check_folds(std::vector<SplitRows>{{{0}, {1}}, {{1}, {0}}}, 2).empty());
  const RowList labels{0, 1, 2, 0};
  const auto notes = check_folds(std::vector<SplitRows>{{{0, 1}, {2}}, {{0, 1}, {2}}}, 4, labels);
  ASSERT_EQ(notes.size(), 4U);
  EXPECT_NE(notes[0].find("fold 1 tests 1 row of classes"), std::string::npos);
  EXPECT_NE(notes[2].find("no fold tests 3 rows of 4"), std::string::npos);
  EXPECT_NE(notes[3].find("several folds test 1 row of 4"), std::string::npos);
}

}  // namespace
}  // namespace widelimit
