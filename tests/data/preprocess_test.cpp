#include "widelimit/data/preparation/preprocess.hpp"

#include "fixture.hpp"

#include <algorithm>
#include <numeric>

namespace widelimit {
namespace {

TEST(Preprocess, ClassesAreKeptByNameInTheirOwnOrder) {
  const Dataset data = table({{0}, {1}, {2}, {3}}, {0, 2, 1, 2});
  const Dataset chosen = select_classes(data, std::vector<std::string>{"2", "0", "2"});
  EXPECT_EQ(chosen.count(), 3);
  EXPECT_EQ(chosen.class_names, (std::vector<std::string>{"0", "2"}));
  EXPECT_EQ(chosen.labels, (std::vector<Index>{0, 1, 1}));
  EXPECT_EQ(value(chosen, 2, 0), 3);
  expect_error(Code::input, {"'5'", "0, 1, 2"}, [&] { (void)select_classes(data, std::vector<std::string>{"5"}); });
}

TEST(Preprocess, NamedClassesMayBeNumbered) {
  Dataset data = table({{0}, {1}}, {0, 1});
  data.class_names = {"cat", "dog"};
  EXPECT_EQ(select_classes(data, std::vector<std::string>{"1"}).class_names, std::vector<std::string>{"dog"});
  EXPECT_EQ(select_classes(data, std::vector<std::string>{"cat"}).count(), 1);
  expect_error(Code::input, {"cat, dog"}, [&] { (void)select_classes(data, std::vector<std::string>{"2"}); });
  expect_error(Code::input, {"unlabelled"}, [&] { (void)select_classes(table({{1}}), std::vector<std::string>{"0"}); });
}

TEST(Preprocess, LimitKeepsTheFirst) {
  EXPECT_EQ(limit_rows(table({{0}, {1}, {2}}), 2).count(), 2);
  EXPECT_EQ(limit_rows(table({{0}, {1}, {2}}), 9).count(), 3);
  expect_error(Code::usage, {"0"}, [] { (void)limit_rows(table({{0}}), 0); });
}

TEST(Preprocess, PermutationIsOneAndDependsOnSeedAndStream) {
  for (const Index n : {0, 1, 2, 37}) {
    std::vector<Index> order = permutation(n, 5);
    EXPECT_EQ(order, permutation(n, 5));
    std::sort(order.begin(), order.end());
    std::vector<Index> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all);
  }
  EXPECT_NE(permutation(37, 5), permutation(37, 6));
  EXPECT_NE(permutation(37, 5), permutation(37, 5, 1));
}

TEST(Preprocess, ShuffleIsFair) {
  // 6000 shuffles of 3: each of the six orders 1000 times, standard deviation √(6000·5/36) ≈ 28.9; the tolerance is six
  // of them.
  std::vector<int> counts(27, 0);
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const auto order = permutation(3, seed);
    ++counts[static_cast<std::size_t>(9 * order[0] + 3 * order[1] + order[2])];
  }
  for (const int count : counts) EXPECT_TRUE(count == 0 || std::abs(count - 1000) < 174) << count;
}

TEST(Preprocess, ShuffledRowsKeepTheirLabels) {
  const Dataset data = shuffle_rows(table({{0}, {1}, {2}, {3}, {4}}, {0, 1, 2, 3, 4}), 3);
  for (Index i = 0; i < 5; ++i)
    EXPECT_EQ(value(data, i, 0), static_cast<double>(data.labels[static_cast<std::size_t>(i)]));
}

TEST(Preprocess, ClassesWithoutTrainingSamplesAreLeftOutOfBoth) {
  Dataset train = table({{0}, {1}}, {0, 2});
  train.class_names = {"a", "b", "c", "d"};
  std::optional<Dataset> test = table({{2}, {3}, {4}}, {1, 2, 1});
  test->class_names = train.class_names;
  drop_absent_classes(train, test);
  EXPECT_EQ(train.class_names, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(train.labels, (std::vector<Index>{0, 1}));
  ASSERT_TRUE(test);
  EXPECT_EQ(test->class_names, train.class_names);
  EXPECT_EQ(test->labels, (std::vector<Index>{1}));
  ASSERT_EQ(train.notes.size(), 1U);
  for (const char* part : {"b, d", "2 test samples"}) EXPECT_NE(train.notes[0].find(part), std::string::npos);
  drop_absent_classes(train, test);
  EXPECT_EQ(train.notes.size(), 1U) << "nothing is absent any more";
  test = table({{2}}, {0});
  train = table({{0}}, {1});
  drop_absent_classes(train, test);
  EXPECT_FALSE(test) << "no sample was left";
}

}  // namespace
}  // namespace widelimit
