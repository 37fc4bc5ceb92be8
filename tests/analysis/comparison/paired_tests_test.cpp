#include "widelimit/analysis/comparison/paired_tests.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>

namespace widelimit {
namespace {

/// Fraction of all sequences of n coin flips that are at least as one-sided.
double by_enumeration(Index first, Index second) {
  const Index n = first + second;
  Index as_odd = 0;
  for (unsigned coins = 0; coins < (1U << static_cast<unsigned>(n)); ++coins) {
    const Index heads = std::popcount(coins);
    as_odd += std::abs(2 * heads - n) >= std::abs(first - second) ? 1 : 0;
  }
  return static_cast<double>(as_odd) / static_cast<double>(1U << static_cast<unsigned>(n));
}

TEST(PairedTests, McNemarCountsCoins) {
  for (Index first = 0; first <= 6; ++first) {
    for (Index second = 0; second <= 6; ++second) {
      EXPECT_NEAR(mcnemar_p(first, second), by_enumeration(first, second), 1e-14) << first << " " << second;
    }
  }
  // scipy.stats.binomtest(10, 35).pvalue
  EXPECT_NEAR(mcnemar_p(25, 10), 0.016673847800120715, 1e-15);
  EXPECT_EQ(mcnemar_p(0, 0), 1);
  EXPECT_DOUBLE_EQ(mcnemar_p(0, 1000), std::exp2(-999));
}

TEST(PairedTests, PairedTCountsSamplesByTheirWeights) {
  const std::vector<double> d{0.02, 0.05, -0.01, 0.03, 0.04};
  // scipy.stats.ttest_1samp(d, 0).pvalue
  EXPECT_NEAR(paired_t_p(d), 0.06498591034212063, 1e-13);
  EXPECT_NEAR(paired_t_p(d, std::vector<double>(5, 3.0)), paired_t_p(d), 1e-14);
  // Hand-computed: n = 2, d = (0, 1), w = (1, 3): mean 3/4, se² = 2·(9/16 + 9/16)/16.
  const double se = std::sqrt(2 * (9.0 / 16 + 9.0 / 16) / 16);
  const std::vector<double> two{0, 1}, weights{1, 3};
  // Student's t with one degree of freedom is the Cauchy distribution.
  EXPECT_NEAR(paired_t_p(two, weights), 1 - 2 / std::numbers::pi * std::atan(0.75 / se), 1e-14);
  EXPECT_NEAR(t_half_width(two, weights), std::tan(std::numbers::pi * 0.475) * se, 1e-12);
  EXPECT_THROW((void)paired_t_p(std::vector<double>{1}), Error);
}

TEST(PairedTests, CorrectedTIsThatOfNadeauAndBengio) {
  const std::vector<double> d{0.02, 0.05, -0.01, 0.03, 0.04};
  // scipy.stats.t.sf and ppf of d.mean()/sqrt((1/5 + 1/4)·d.var(ddof=1)), 4 degrees of freedom
  EXPECT_NEAR(corrected_t_p(d, 0.25), 0.16755322147892307, 1e-13);
  EXPECT_NEAR(corrected_t_half_width(d, 0.25), 0.04287787786480534, 1e-15);
  EXPECT_EQ(corrected_t_p(std::vector<double>(5, 0.0), 0.25), 1);
  EXPECT_EQ(corrected_t_p(std::vector<double>(5, 0.1), 0.25), 0);
  EXPECT_THROW((void)corrected_t_p(std::vector<double>{0.1}, 0.25), Error);
}

TEST(PairedTests, WilsonsIntervalStaysWithinShares) {
  // scipy.stats.binomtest(hits, n).proportion_ci(method='wilson')
  EXPECT_EQ(wilson_interval(0, 10).low, 0);
  EXPECT_NEAR(wilson_interval(0, 10).high, 0.27753279986288926, 1e-14);
  EXPECT_NEAR(wilson_interval(3, 20).low, 0.05236874589621662, 1e-14);
  EXPECT_NEAR(wilson_interval(3, 20).high, 0.3604188647407569, 1e-14);
  EXPECT_NEAR(wilson_interval(20, 20).low, 0.8388748419471808, 1e-14);
  EXPECT_EQ(wilson_interval(20, 20).high, 1);
  EXPECT_THROW((void)wilson_interval(0, 0), Error);
}

TEST(PairedTests, HolmStepsDown) {
  const std::vector<double> adjusted = holm_adjusted(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  const std::vector<double> expected{0.03, 0.06, 0.06, 0.02};
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-15);
  EXPECT_EQ(holm_adjusted(std::vector<double>{0.9, 0.8}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm_adjusted({}).empty());
}

}  // namespace
}  // namespace widelimit
