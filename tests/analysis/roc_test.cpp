#include "widelimit/analysis/roc.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Mann–Whitney statistic: all pairs of a positive and a negative sample, ties counted half.
double area_by_pairs(const std::vector<double>& scores, const std::vector<bool>& positive) {
  double won = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (!positive[i] || positive[j]) continue;
      pairs += 1;
      won += scores[i] > scores[j] ? 1 : (scores[i] == scores[j] ? 0.5 : 0);
    }
  }
  return won / pairs;
}

/// Area under the points by the trapezoidal rule.
double area_by_trapezia(const Roc& found) {
  double area = 0;
  for (std::size_t i = 1; i < found.points.size(); ++i) {
    const RocPoint& a = found.points[i - 1];
    const RocPoint& b = found.points[i];
    area += (b.false_positive - a.false_positive) * (a.true_positive + b.true_positive) / 2;
  }
  return area;
}

TEST(RocCurve, OfOrdersKnown) {
  EXPECT_EQ(roc(std::vector<double>{1, 2, 3, 4}, {false, false, true, true})->area, 1);
  EXPECT_EQ(roc(std::vector<double>{4, 3, 2, 1}, {false, false, true, true})->area, 0);
  EXPECT_EQ(roc(std::vector<double>{7, 7, 7}, {false, true, true})->area, 0.5);
  EXPECT_EQ(roc(std::vector<double>{1, 2, 2, 3}, {false, true, false, true})->area, 0.875);
}

/// Few distinct values, so that most samples are tied.
TEST(RocCurve, AreaIsThatOfAllPairsWithTies) {
  for (const std::size_t n : {2U, 3U, 37U, 200U}) {
    for (const double values : {2.0, 5.0, 1e6}) {
      const Random random(n + static_cast<std::size_t>(values));
      std::vector<double> scores;
      std::vector<bool> positive;
      for (std::size_t i = 0; i < n; ++i) {
        scores.push_back(std::floor(values * random.uniform(2 * i)));
        positive.push_back(i == 0 || (i > 1 && random.uniform(2 * i + 1) < 0.3));
      }
      const auto found = roc(scores, positive);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->area, area_by_pairs(scores, positive)) << n << " samples, " << values << " values";
      EXPECT_NEAR(found->area, area_by_trapezia(*found), 1e-14);
      EXPECT_EQ(found->points.front().true_positive, 0);
      EXPECT_EQ(found->points.back().true_positive, 1);
      EXPECT_EQ(found->points.back().false_positive, 1);
      EXPECT_EQ(found->positives + found->negatives, static_cast<Index>(n));
    }
  }
}

TEST(RocCurve, NeedsBothClasses) {
  EXPECT_FALSE(roc(std::vector<double>{}, {}));
  EXPECT_FALSE(roc(std::vector<double>{1}, {true}));
  EXPECT_FALSE(roc(std::vector<double>{1, 2}, {false, false}));
}

TEST(RocCurve, RefusesWhatHasNoOrder) {
  EXPECT_THROW((void)roc(std::vector<double>{1, std::nan("")}, {true, false}), Error);
  EXPECT_THROW((void)roc(std::vector<double>{1, 2}, {true}), Error);
}

}  // namespace
}  // namespace widelimit
