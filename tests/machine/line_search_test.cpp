#include "widelimit/machine/logistic/line_search.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

void expect_good(const std::function<Slice(double)>& along) {
  const Slice start = along(0);
  const double t = step_length(along);
  ASSERT_GT(t, 0);
  const Slice end = along(t);
  EXPECT_LE(end.value, start.value + 1e-4 * t * start.slope + 1e-12 * std::fabs(start.value));
  EXPECT_LE(std::fabs(end.slope), 0.1 * -start.slope);
}

TEST(StepLength, IsOneAtTheMinimumOfAParabola) {
  EXPECT_EQ(step_length([](double t) { return Slice{(t - 1) * (t - 1), 2 * (t - 1), 2}; }), 1);
}

TEST(StepLength, ShrinksAndGrows) {
  for (const double minimum : {1e-6, 1e-2, 3.0, 1e5}) {
    expect_good([=](double t) { return Slice{(t - minimum) * (t - minimum), 2 * (t - minimum), 2}; });
    // Flat on one side of the minimum, steep on the other.
    expect_good([=](double t) {
      const double s = t / minimum;
      return Slice{std::exp(s) - 2.718281828 * s, (std::exp(s) - 2.718281828) / minimum,
                   std::exp(s) / (minimum * minimum)};
    });
  }
}

TEST(StepLength, IsZeroWhereNothingDescends) {
  EXPECT_EQ(step_length([](double t) { return Slice{t, 1, 0}; }), 0);
  EXPECT_EQ(step_length([](double) { return Slice{std::nan(""), std::nan(""), 0}; }), 0);
  // A wrong slope: every value is higher.
  EXPECT_EQ(step_length([](double t) { return Slice{t > 0 ? 1.0 : 0.0, -1, 0}; }), 0);
}

}  // namespace
}  // namespace widelimit
