#include "widelimit/engine/host/point_strip.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace widelimit {
namespace {

using Points = std::array<double, usize(host::strip_points)>;

template <typename T>
Matrix<T> random_rows(Index rows, Index cols) {
  std::mt19937 random(static_cast<unsigned>(rows * 100 + cols));
  std::uniform_real_distribution<T> uniform(-1, 1);
  Matrix<T> k(rows, cols);
  for (Index i = 0; i < rows * cols; ++i) k.data()[i] = uniform(random);
  return k;
}

template <typename T>
void expect_weighed(Index points, Index samples) {
  const Matrix<T> k = random_rows<T>(points, samples);
  const std::vector<double> strip = host::strip_of(k.view().block(0, 0, points, samples));
  std::vector<host::Weighted> entries;
  for (Index count = 0; count <= 2 * samples; ++count) {
    Points sums;
    sums.fill(std::nan(""));  // overwritten, not accumulated
    host::weigh_strip(entries, strip.data(), sums.data());
    for (Index i = 0; i < points; ++i) {
      long double expected = 0;
      for (const auto& [sample, by] : entries) expected += static_cast<long double>(by) * k(i, sample);
      ASSERT_NEAR(sums[usize(i)], static_cast<double>(expected), 1e-15 * static_cast<double>(count * count + 1));
    }
    entries.push_back({(count * 5 + 2) % samples, 1 - 0.25 * static_cast<double>(count)});
  }
}

TEST(PointStrip, WeighsAsTheSumIsDefined) {
  for (const Index points : {Index{1}, Index{7}, host::strip_points - 1, host::strip_points}) {
    for (const Index samples : {1, 9}) {
      expect_weighed<double>(points, samples);
      expect_weighed<float>(points, samples);
    }
  }
}

TEST(PointStrip, CountsAPairForTheFirstAboveZeroOnly) {
  Points decisions{};
  decisions[0] = 0.5;
  decisions[1] = -0.5;  // with the bias 0, a vote for the second
  decisions[63] = -0.75;
  Points votes[2]{};
  Points sums[2]{};
  votes[1][0] = 3;
  sums[0][63] = 10;
  host::count_pair(decisions.data(), 0.5, {votes[0].data(), sums[0].data()}, {votes[1].data(), sums[1].data()});
  EXPECT_EQ(votes[0][0], 1);
  EXPECT_EQ(votes[1][0], 3);
  EXPECT_EQ(sums[0][0], 1);
  EXPECT_EQ(sums[1][0], -1);
  EXPECT_EQ(votes[0][1], 0);
  EXPECT_EQ(votes[1][1], 1);
  EXPECT_EQ(votes[0][63], 0);
  EXPECT_EQ(votes[1][63], 1);
  EXPECT_EQ(sums[0][63], 9.75);
  EXPECT_EQ(sums[1][63], 0.25);
}

/// Votes and sums with few distinct values, so that ties are frequent.
TEST(PointStrip, ElectsTheMostVotesThenTheLargestSumOrTheFirst) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> few(0, 2);
  for (const Index classes : {2, 3, 7}) {
    std::vector<double> counts(usize(2 * classes * host::strip_points));
    for (double& number : counts) number = few(random) - 1;
    for (const bool by_sums : {false, true}) {
      std::array<Index, usize(host::strip_points)> winners;
      host::find_winners(counts.data(), classes, by_sums, winners.data());
      for (Index i = 0; i < host::strip_points; ++i) {
        const auto merit = [&](Index c) {
          const double* votes = counts.data() + 2 * c * host::strip_points + i;
          return std::pair(votes[0], by_sums ? votes[host::strip_points] : 0.0);
        };
        Index expected = 0;
        for (Index c = 1; c < classes; ++c) expected = merit(c) > merit(expected) ? c : expected;
        EXPECT_EQ(winners[usize(i)], expected) << classes << " classes, point " << i << ", by sums " << by_sums;
      }
    }
  }
}

}  // namespace
}  // namespace widelimit
