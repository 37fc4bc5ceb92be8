#include "widelimit/data/preprocess.hpp"

#include "fixture.hpp"
#include "widelimit/data/labels.hpp"

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
  // 6000 shuffles of 3: each of the six orders 1000 times, standard deviation √(6000·5/36) ≈ 28.9; six of them allowed.
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

TEST(Preprocess, SplitIsOrderedAndNeverEmpty) {
  const Dataset data = table({{0}, {1}, {2}, {3}, {4}}, {0, 1, 0, 1, 0});
  const auto [train, test] = split_rows(data, 0.6);
  EXPECT_EQ(train.count(), 3);
  EXPECT_EQ(test.count(), 2);
  EXPECT_EQ(value(test, 0, 0), 3);
  EXPECT_EQ(test.labels, (std::vector<Index>{1, 0}));
  for (const double bad : {0.0, 1.0, -1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    expect_error(Code::usage, {}, [&] { (void)split_rows(data, bad); });
  }
  expect_error(Code::input, {"empty"}, [&] { (void)split_rows(data, 0.01); });
}

TEST(Labels, TestSpeaksTheLanguageOfTraining) {
  Dataset data = table({{0}, {1}}, {0, 1});
  data.class_names = {"b", "c"};
  relabel(data, {"a", "b", "c"}, false);
  EXPECT_EQ(data.labels, (std::vector<Index>{1, 2}));
  EXPECT_EQ(data.class_names.size(), 3U);
  expect_error(Code::input, {"'a'"}, [&] { relabel(data, {"b", "c"}, false); });

  Dataset integers = table({{0}, {1}}, {0, 1});
  relabel(integers, {}, true);
  EXPECT_EQ(integers.targets, (std::vector<double>{0, 1}));
  EXPECT_TRUE(integers.labels.empty());
  expect_error(Code::input, {"real numbers"}, [&] { relabel(integers, {"0"}, false); });
}

}  // namespace
}  // namespace widelimit
