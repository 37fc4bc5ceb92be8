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

}  // namespace
}  // namespace widelimit
