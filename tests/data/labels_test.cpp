#include "widelimit/data/labels/labels.hpp"

#include "fixture.hpp"

#include <numeric>

namespace widelimit {
namespace {

TEST(Labels, TestSpeaksTheLanguageOfTraining) {
  Dataset data = table({{0}, {1}}, {0, 1});
  data.class_names = {"b", "c"};
  relabel(data, {"a", "b", "c"}, false);
  EXPECT_EQ(data.labels, (std::vector<Index>{1, 2}));
  EXPECT_EQ(data.class_names.size(), 3U);
  expect_error(Code::input, {"'c'"}, [&] { relabel(data, {"a", "b"}, false); });

  Dataset few = table({{0}}, {1});
  few.class_names = {"unseen", "b", "z"};
  relabel(few, {"a", "b"}, false);
  EXPECT_EQ(few.labels, (std::vector<Index>{1})) << "classes without samples do not matter";

  Dataset integers = table({{0}, {1}}, {0, 1});
  relabel(integers, {}, true);
  EXPECT_EQ(integers.targets, (std::vector<double>{0, 1}));
  EXPECT_TRUE(integers.labels.empty());
  expect_error(Code::input, {"real numbers"}, [&] { relabel(integers, {"0"}, false); });
}

Dataset with_labels(const std::vector<std::string>& cells) {
  Dataset data;
  data.name = "numbers";
  data.shape = {1, 1, 1};
  data.values = Matrix<double>(std::ssize(cells), 1);
  set_labels(data, cells, data.name);
  return data;
}

std::vector<std::string> repeated(const std::vector<int>& values, int times) {
  std::vector<std::string> cells;
  for (int k = 0; k < times; ++k) {
    for (const int value : values) cells.push_back(std::to_string(value));
  }
  return cells;
}

std::vector<int> counting(int first, int count, int step = 1) {
  std::vector<int> values;
  for (int k = 0; k < count; ++k) values.push_back(first + step * k);
  return values;
}

TEST(Labels, TaskIsGuessedAndSaidWhereItCouldBeWrong) {
  struct Case {
    std::vector<std::string> cells;
    bool numbers;
    bool noted;
  };
  const std::vector<Case> cases{
      {repeated({0, 1}, 3), false, false},
      {repeated({2, 4}, 3), false, false},
      {repeated({-1, 0, 1}, 3), false, false},
      {repeated(counting(0, 10), 3), false, false},
      {repeated(counting(1, 20), 3), false, false},
      {repeated(counting(0, 3), 1), false, false},
      {repeated(counting(3, 6), 9), false, true},  // wine ratings
      {repeated(counting(0, 100), 3), false, true},
      {repeated(counting(18, 50), 3), true, true},  // ages
      {repeated(counting(100, 7, 13), 1), true, true},
      {repeated(counting(0, 100), 1), true, true},
      {{"cat", "dog", "cow"}, false, false},
      {{"0.5", "1"}, true, false},
  };
  for (const Case& one : cases) {
    Dataset data = with_labels(one.cells);
    guess_task(data);
    const std::string name = one.cells[0] + ", " + one.cells[1] + ", …";
    EXPECT_EQ(data.targets.size(), one.numbers ? one.cells.size() : 0U) << name;
    EXPECT_EQ(data.labels.size(), one.numbers ? 0U : one.cells.size()) << name;
    ASSERT_EQ(data.notes.size(), one.noted ? 1U : 0U) << name;
    if (!one.noted) continue;
    EXPECT_NE(data.notes[0].find(one.numbers ? "regression" : "classification"), std::string::npos) << data.notes[0];
  }
}

TEST(Labels, CodesKeepTheirLeadingZeros) {
  Dataset codes = with_labels({"02", "01", "10", "01"});
  EXPECT_EQ(codes.class_names, (std::vector<std::string>{"01", "02", "10"}));
  EXPECT_EQ(codes.labels, (std::vector<Index>{1, 0, 2, 0}));
  guess_task(codes);
  EXPECT_FALSE(codes.class_names.empty());
  ASSERT_EQ(codes.notes.size(), 1U);
  EXPECT_NE(codes.notes.front().find("leading zeros ('01')"), std::string::npos) << codes.notes.front();
  EXPECT_EQ(with_labels({"0.50", "01"}).targets, (std::vector<double>{0.5, 1})) << "numbers";
  EXPECT_EQ(with_labels({"1.0", "01"}).class_names, (std::vector<std::string>{"1"})) << "numbers";

  // Models and tables that write the same class as another number.
  Dataset test = with_labels({"2", "1"});
  relabel(test, {"01", "02", "10"}, false);
  EXPECT_EQ(test.labels, (std::vector<Index>{1, 0}));
  Dataset unclear = with_labels({"001"});
  expect_error(Code::input, {"'001'"}, [&] { relabel(unclear, {"01", "1"}, false); });
  set_task(codes, Task::regression);
  EXPECT_EQ(codes.targets, (std::vector<double>{2, 1, 10, 1}));
}

TEST(Labels, SmallClassesAreNamed) {
  Dataset data = with_labels({"cat", "dog", "cat"});
  data.name = "pets.csv";
  require_members(data, 1, "folds need");
  expect_error(Code::input, {"pets.csv", "class 'dog' has 1 sample,", "folds need at least 2"},
               [&] { require_members(data, 2, "folds need"); });
  expect_error(Code::input, {"class 'cat' has 2 samples,"}, [&] { require_members(data, 3, "folds need"); });
  require_members(with_labels({"0.5", "1.5"}), 2, "numbers have no classes");
}

TEST(Labels, TaskAsAsked) {
  Dataset data = with_labels({"3", "1", "3"});
  set_task(data, Task::regression);
  EXPECT_EQ(data.targets, (std::vector<double>{3, 1, 3}));
  EXPECT_TRUE(data.labels.empty() && data.class_names.empty());
  set_task(data, Task::classification);
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(data.labels, (std::vector<Index>{1, 0, 1}));
  EXPECT_TRUE(data.targets.empty());
  Dataset reals = with_labels({"2.5", "-0.5", "2.5"});
  set_task(reals, Task::classification);
  EXPECT_EQ(reals.class_names, (std::vector<std::string>{"-0.5", "2.5"}));
  Dataset texts = with_labels({"cat", "dog"});
  expect_error(Code::input, {"'cat'"}, [&] { set_task(texts, Task::regression); });
  Dataset none = table({{1}});
  expect_error(Code::input, {"unlabelled"}, [&] { set_task(none, Task::regression); });
  EXPECT_EQ(parse_task("regression"), Task::regression);
  expect_error(Code::usage, {"classification, regression"}, [] { (void)parse_task("guess"); });
}

}  // namespace
}  // namespace widelimit
