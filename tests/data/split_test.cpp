#include "widelimit/data/labels/split.hpp"

#include "fixture.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {
namespace {

/// Returns samples sorted by class, with these class sizes.
Dataset sorted_by_class(const std::vector<Index>& sizes) {
  Dataset data;
  data.name = "sorted";
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    data.class_names.push_back("class " + std::to_string(c));
    data.labels.insert(data.labels.end(), usize(sizes[c]), static_cast<Index>(c));
  }
  data.shape = {1, 1, 1};
  data.values = Matrix<double>(std::ssize(data.labels), 1);
  return data;
}

std::vector<Index> counts(const Dataset& data, const std::vector<Index>& rows) {
  std::vector<Index> found(data.class_names.size());
  for (const Index i : rows) ++found[usize(data.labels[usize(i)])];
  return found;
}

TEST(Split, EverySampleIsOnOneSide) {
  const Dataset data = sorted_by_class({5, 1, 30, 2, 0, 17});
  for (const SplitOrder order : {SplitOrder::stratified, SplitOrder::file}) {
    for (const double fraction : {0.1, 0.5, 0.8, 0.97}) {
      const SplitRows rows = split_rows(data, {fraction, order, 3});
      EXPECT_EQ(std::ssize(rows.train), std::llround(fraction * 55)) << fraction;
      std::vector<Index> all = rows.train;
      all.insert(all.end(), rows.test.begin(), rows.test.end());
      std::sort(all.begin(), all.end());
      std::vector<Index> expected(55);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(all, expected) << fraction;
    }
  }
}

TEST(Split, ClassesKeepTheirShare) {
  const std::vector<Index> sizes{50, 50, 50};
  const Dataset data = sorted_by_class(sizes);
  const SplitRows rows = split_rows(data, {.fraction = 0.8, .seed = 7});
  EXPECT_EQ(counts(data, rows.train), (std::vector<Index>{40, 40, 40}));
  EXPECT_EQ(counts(data, rows.test), (std::vector<Index>{10, 10, 10}));
  EXPECT_FALSE(std::is_sorted(rows.train.begin(), rows.train.end())) << "drawn at random";

  // If the fractions are not integers, each class is within one sample of its share.
  const std::vector<Index> awkward{7, 13, 37, 101, 3};
  const Dataset uneven = sorted_by_class(awkward);
  for (const double fraction : {0.25, 0.5, 0.7, 0.9}) {
    const std::vector<Index> found = counts(uneven, split_rows(uneven, {.fraction = fraction}).train);
    for (std::size_t c = 0; c < awkward.size(); ++c) {
      EXPECT_LE(std::abs(static_cast<double>(found[c]) - fraction * static_cast<double>(awkward[c])), 1.0)
          << fraction << ", class " << c;
    }
  }
}

TEST(Split, EveryClassOfTwoIsOnBothSidesWherePossible) {
  const Dataset data = sorted_by_class({100, 2, 2, 1});
  for (const double fraction : {0.1, 0.5, 0.9}) {
    const SplitRows rows = split_rows(data, {.fraction = fraction, .seed = 1});
    const std::vector<Index> train = counts(data, rows.train);
    const std::vector<Index> test = counts(data, rows.test);
    EXPECT_EQ(train[1], 1) << fraction;
    EXPECT_EQ(test[2], 1) << fraction;
    EXPECT_EQ(train[3], 1) << "a single sample is trained on";
  }
  // Three training samples of five classes: no class has two.
  const Dataset many = sorted_by_class({2, 2, 2, 2, 2});
  EXPECT_EQ(split_rows(many, {.fraction = 0.3}).train.size(), 3U);
}

TEST(Split, SeedsDraw) {
  const Dataset data = sorted_by_class({20, 20});
  const SplitRows rows = split_rows(data, {.fraction = 0.5, .seed = 1});
  EXPECT_EQ(rows.train, split_rows(data, {.fraction = 0.5, .seed = 1}).train);
  EXPECT_NE(rows.train, split_rows(data, {.fraction = 0.5, .seed = 2}).train);
}

TEST(Split, NumbersAreDrawnTogether) {
  Dataset data = table({{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}});
  data.targets = {0.5, 1, 2, 3, 4, 5, 6, 7};
  const SplitRows rows = split_rows(data, {.fraction = 0.75});
  EXPECT_EQ(rows.train.size(), 6U);
  EXPECT_FALSE(std::is_sorted(rows.train.begin(), rows.train.end()));
}

TEST(Split, FileKeepsTheOrder) {
  const Dataset data = table({{0}, {1}, {2}, {3}, {4}}, {0, 1, 0, 1, 0});
  const SplitRows rows = split_rows(data, {.fraction = 0.6, .order = SplitOrder::file});
  EXPECT_EQ(rows.train, (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(rows.test, (std::vector<Index>{3, 4}));
}

TEST(Split, BadFractionsAndEmptyParts) {
  const Dataset data = table({{0}, {1}, {2}, {3}, {4}}, {0, 1, 0, 1, 0});
  for (const double bad : {0.0, 1.0, -1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    expect_error(Code::usage, {"split"}, [&] { (void)split_rows(data, {.fraction = bad}); });
  }
  for (const SplitOrder order : {SplitOrder::stratified, SplitOrder::file}) {
    expect_error(Code::input, {"empty"}, [&] { (void)split_rows(data, {0.01, order, 0}); });
  }
  EXPECT_EQ(parse_split_order("file"), SplitOrder::file);
  expect_error(Code::usage, {"stratified, file"}, [] { (void)parse_split_order("random"); });
}

}  // namespace
}  // namespace widelimit
