#include "widelimit/analysis/equivalence/line_fit.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {
namespace {

TEST(LineFit, MeetsPointsOnALine) {
  const std::vector<double> x{0, 1, 2, 5};
  const std::vector<double> y{3, 2.5, 2, 0.5};
  const auto fit = fit_line(x, y);
  ASSERT_TRUE(fit);
  EXPECT_DOUBLE_EQ(fit->slope, -0.5);
  EXPECT_DOUBLE_EQ(fit->intercept, 3);
  EXPECT_EQ(fit->points, 4);
  EXPECT_NEAR(fit->interval->first, -0.5, 1e-14);
  EXPECT_NEAR(fit->interval->second, -0.5, 1e-14);
}

/// Hand-computed: x = 0, 1, 2, y = 0, 1, 0 have slope 0, residual 2/3, standard error √(2/3/1/2) = 0.57735, and t =
/// 12.7062.
TEST(LineFit, IntervalIsStudents) {
  const std::vector<double> x{0, 1, 2};
  const std::vector<double> y{0, 1, 0};
  const auto fit = fit_line(x, y);
  ASSERT_TRUE(fit && fit->interval);
  EXPECT_NEAR(fit->slope, 0, 1e-15);
  EXPECT_NEAR(fit->interval->second, 12.706204736 * std::sqrt(1.0 / 3), 1e-8);
  EXPECT_NEAR(fit->interval->first, -fit->interval->second, 1e-12);
}

TEST(LineFit, SaysNothingWhereThereIsNoLine) {
  const std::vector<double> none;
  EXPECT_FALSE(fit_line(none, none));
  const std::vector<double> one{1};
  EXPECT_FALSE(fit_line(one, one));
  const std::vector<double> same{2, 2, 2};
  const std::vector<double> values{1, 2, 3};
  EXPECT_FALSE(fit_line(same, values));
  const std::vector<double> endless{1, std::numeric_limits<double>::infinity(), 3};
  EXPECT_FALSE(fit_line(values, endless));
  const std::vector<double> two{1, 2};
  const auto line = fit_line(two, two);
  ASSERT_TRUE(line);
  EXPECT_FALSE(line->interval);
  EXPECT_THROW((void)fit_line(two, one), Error);
}

TEST(Straightness, SlopesGoFromPlaceToPlace) {
  const std::vector<double> x{4, 0, 1, 0, 1, 4};
  const std::vector<double> y{8, 1, 3, 3, 5, 9};
  const std::vector<LocalSlope> slopes = local_slopes(x, y);
  ASSERT_EQ(slopes.size(), 2U);
  EXPECT_EQ(slopes[0].from, 0);
  EXPECT_EQ(slopes[0].to, 1);
  EXPECT_DOUBLE_EQ(slopes[0].slope, 2);
  // Variances 2, 2 and 1/2 of single values, half of that for their means.
  EXPECT_DOUBLE_EQ(*slopes[0].error, std::sqrt(1.0 + 1.0));
  EXPECT_EQ(slopes[1].to, 4);
  EXPECT_DOUBLE_EQ(slopes[1].slope, 4.5 / 3);
  EXPECT_DOUBLE_EQ(*slopes[1].error, std::sqrt(1.0 + 0.25) / 3);
}

TEST(Straightness, OneValueHasNoError) {
  const std::vector<double> x{0, 1, 1};
  const std::vector<double> y{0, 1, 3};
  const std::vector<LocalSlope> slopes = local_slopes(x, y);
  ASSERT_EQ(slopes.size(), 1U);
  EXPECT_DOUBLE_EQ(slopes[0].slope, 2);
  EXPECT_FALSE(slopes[0].error);
  const std::vector<double> none;
  EXPECT_TRUE(local_slopes(none, none).empty());
  EXPECT_THROW((void)local_slopes(x, none), Error);
}

/// Hand-computed: means 0, 1, 0 at x = 0, 1, 2 with ±1 around each. The line is 1/3, the lack-of-fit sum of squares
/// 2·(1/9 + 4/9 + 1/9) = 4/3 with one degree of freedom, the scatter 6 with three: F(1, 3) = 2/3, i.e. t² of Student's
/// t with 3 degrees, where P(|t| > √(2/3)) = 1 − (2/π)(θ + sin θ cos θ), tan θ = √(2/3)/√3.
TEST(Straightness, BendIsJudgedByTheScatter) {
  const std::vector<double> x{0, 0, 1, 1, 2, 2};
  const std::vector<double> y{-1, 1, 0, 2, -1, 1};
  const double theta = std::atan(std::sqrt(2.0 / 9));
  EXPECT_NEAR(*lack_of_fit(x, y), 1 - 2 / std::acos(-1.0) * (theta + std::sin(theta) * std::cos(theta)), 1e-12);
  const std::vector<double> sharp{-1e-3, 1e-3, 1 - 1e-3, 1 + 1e-3, -1e-3, 1e-3};
  EXPECT_LT(*lack_of_fit(x, sharp), 1e-6);
  const std::vector<double> same{0, 0, 1, 1, 0, 0};
  EXPECT_EQ(*lack_of_fit(x, same), 0);
  const std::vector<double> flat{2, 2, 2, 2, 2, 2};
  EXPECT_EQ(*lack_of_fit(x, flat), 1);
}

TEST(Straightness, SaysNothingWithoutRepeatsOrBends) {
  const std::vector<double> three{0, 1, 2};
  EXPECT_FALSE(lack_of_fit(three, three));
  const std::vector<double> two{0, 0, 1, 1};
  EXPECT_FALSE(lack_of_fit(two, two));
  const std::vector<double> none;
  EXPECT_FALSE(lack_of_fit(none, none));
}

}  // namespace
}  // namespace widelimit
