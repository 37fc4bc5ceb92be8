#include "widelimit/machine/ridge/projected_bfgs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Rosenbrock function: minimum 0 at (1, 1).
std::optional<ObjectiveAt> banana(std::span<const double> x, bool /*gradient*/) {
  const double off = x[1] - x[0] * x[0];
  return ObjectiveAt{std::pow(1 - x[0], 2) + 100 * off * off, {-2 * (1 - x[0]) - 400 * x[0] * off, 200 * off}};
}

TEST(ProjectedBfgs, FindsTheMinimumInside) {
  const std::vector<double> start{-1.2, 1};
  const auto found = minimise_in_box(banana, start, {{-5, -5}, {5, 5}, 1e-9, 200});
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->converged);
  EXPECT_NEAR(found->x[0], 1, 1e-8);
  EXPECT_NEAR(found->x[1], 1, 1e-8);
  EXPECT_LE(found->projected_gradient, 1e-9);
  EXPECT_DOUBLE_EQ(found->first_value, banana(start, true)->value);
  EXPECT_LT(found->iterations, 80);
}

/// With x₀ ≤ ½ the minimum is at the bound, with x₁ = x₀².
TEST(ProjectedBfgs, StopsAtABound) {
  const auto found = minimise_in_box(banana, std::vector<double>{-1.2, 1}, {{-5, -5}, {0.5, 5}, 1e-9, 200});
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->converged);
  EXPECT_EQ(found->x[0], 0.5);
  EXPECT_NEAR(found->x[1], 0.25, 1e-10);
  EXPECT_LT(found->gradient[0], -0.5);
}

TEST(ProjectedBfgs, BeginsWithinTheBoundsAndMayBeFixed) {
  const auto found = minimise_in_box(banana, std::vector<double>{9, 9}, {{2, 3}, {2, 3}, 1e-9, 10});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->x, (std::vector<double>{2, 3}));
}

/// x − log x is defined for positive x only, with minimum 1; the first steps leave the domain.
TEST(ProjectedBfgs, TurnsBackWhereTheFunctionIsNotDefined) {
  const BoxObjective barrier = [](std::span<const double> x, bool) -> std::optional<ObjectiveAt> {
    if (x[0] <= 0) return std::nullopt;
    return ObjectiveAt{x[0] - std::log(x[0]), {1 - 1 / x[0]}};
  };
  const auto found = minimise_in_box(barrier, std::vector<double>{1.9}, {{-10}, {10}, 1e-10, 50, 5});
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->converged);
  EXPECT_NEAR(found->x[0], 1, 1e-9);
  EXPECT_FALSE(minimise_in_box(barrier, std::vector<double>{-1}, {{-10}, {10}, 1e-10, 50}).has_value());
}

TEST(ProjectedBfgs, SaysWhereItDidNotArrive) {
  const auto few = minimise_in_box(banana, std::vector<double>{-1.2, 1}, {{-5, -5}, {5, 5}, 1e-9, 3});
  ASSERT_TRUE(few.has_value());
  EXPECT_FALSE(few->converged);
  EXPECT_FALSE(few->stalled);
  EXPECT_EQ(few->iterations, 3);
  const BoxObjective lying = [](std::span<const double> x, bool) {
    return std::optional(ObjectiveAt{x[0], {-1}});  // a gradient of the wrong sign
  };
  const auto stuck = minimise_in_box(lying, std::vector<double>{0}, {{-5}, {5}, 1e-9, 10});
  ASSERT_TRUE(stuck.has_value());
  EXPECT_TRUE(stuck->stalled);
}

}  // namespace
}  // namespace widelimit
