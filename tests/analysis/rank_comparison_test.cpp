#include "widelimit/analysis/rank_comparison.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

// Ranks by scipy.stats.rankdata, p by scipy.stats.f; the critical difference of 4 classifiers on 14 sets is from Demšar
// (2006, §3.2.2).
TEST(RankComparison, IsThatOfRanksByScipy) {
  const double table[14][4]{{0.763, 0.768, 0.771, 0.798}, {0.599, 0.591, 0.590, 0.569}, {0.954, 0.971, 0.968, 0.967},
                            {0.628, 0.661, 0.654, 0.657}, {0.882, 0.888, 0.886, 0.898}, {0.936, 0.931, 0.916, 0.931},
                            {0.661, 0.668, 0.609, 0.685}, {0.583, 0.583, 0.563, 0.625}, {0.775, 0.838, 0.866, 0.875},
                            {1.000, 1.000, 1.000, 1.000}, {0.940, 0.962, 0.965, 0.962}, {0.619, 0.666, 0.614, 0.669},
                            {0.972, 0.981, 0.975, 0.975}, {0.957, 0.978, 0.946, 0.970}};
  Matrix<double> scores(14, 4);
  for (Index i = 0; i < 14; ++i) std::copy_n(table[i], 4, scores.view().row(i));
  const RankComparison found = compare_ranks(scores.view());
  const double ranks[4]{44.0 / 14, 2.0, 41.0 / 14, 27.0 / 14};
  for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(found.ranks[c], ranks[c], 1e-14);
  EXPECT_NEAR(found.chi_squared, 69.0 / 7, 1e-12);
  EXPECT_NEAR(found.f, 299.0 / 75, 1e-12);
  EXPECT_NEAR(found.p, 0.01435244621602403, 1e-12);
  EXPECT_NEAR(found.critical_difference, 1.25, 5e-3);
  EXPECT_EQ(found.order(), (std::vector<std::size_t>{3, 1, 2, 0}));
  EXPECT_EQ(found.groups(), (std::vector<std::pair<std::size_t, std::size_t>>{{0, 3}}));
}

TEST(RankComparison, KnowsUnanimityAndGroups) {
  Matrix<double> scores(30, 3);
  for (Index i = 0; i < 30; ++i) {
    scores(i, 0) = 1;
    scores(i, 1) = 3;
    scores(i, 2) = 2;
  }
  const RankComparison same = compare_ranks(scores.view());
  EXPECT_EQ(same.p, 0);
  EXPECT_TRUE(same.groups().empty());
  for (Index i = 0; i < 15; ++i) scores(i, 2) = 4;
  EXPECT_EQ(compare_ranks(scores.view()).groups(), (std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}}));
  EXPECT_THROW((void)compare_ranks(Matrix<double>(1, 3).view()), Error);
  EXPECT_THROW((void)compare_ranks(Matrix<double>(4, 1).view()), Error);
}

TEST(AccuracySummary, IsThatOfTheBenchmark) {
  Matrix<double> accuracies(2, 2);
  accuracies(0, 0) = 0.5;
  accuracies(0, 1) = 1.0;
  accuracies(1, 0) = 0.8;
  accuracies(1, 1) = 0.74;
  const auto summaries = summarise_accuracies(accuracies.view());
  EXPECT_NEAR(summaries[0].mean, 0.65, 1e-15);
  EXPECT_NEAR(summaries[0].deviation, 0.15, 1e-15);
  EXPECT_EQ(summaries[0].p90, 0.5);
  EXPECT_NEAR(summaries[0].share, 0.75, 1e-15);
  EXPECT_NEAR(summaries[0].share_deviation, 0.25, 1e-15);
  EXPECT_EQ(summaries[1].p90, 1);
  EXPECT_EQ(summaries[1].p95, 0.5);
}

}  // namespace
}  // namespace widelimit
