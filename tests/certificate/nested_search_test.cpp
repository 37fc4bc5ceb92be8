#include "widelimit/certificate/search/point_search.hpp"

#include "tests/certificate/bound_shapes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace widelimit {
namespace {

/// Bounds given by a formula of functional, radius and the ball that they were built for; counts balls.
class NestedFormula final : public LowerBound {
 public:
  using Formula = std::function<double(Index functional, double radius, double ball)>;
  explicit NestedFormula(Formula formula) : formula_(std::move(formula)) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    std::vector<double> bounds;
    for (const BallQuery& query : queries) bounds.push_back(formula_(query.functional, query.radius, query.radius));
    return bounds;
  }
  [[nodiscard]] bool nests() const override { return true; }
  [[nodiscard]] std::unique_ptr<LowerBound> within(const Ball& largest) const override {
    ++balls;
    return std::make_unique<NestedFormula>([this, largest](Index functional, double radius, double /*ball*/) {
      EXPECT_LE(radius, largest.radius);
      return formula_(functional, radius, largest.radius);
    });
  }
  mutable int balls = 0;

 private:
  Formula formula_;
};

double searched(const NestedFormula& bound, double first, std::vector<double> values = {1}, double largest = 1e6) {
  const RadiusGrid grid(1e-3);
  return grid.radius(
      nested_search(bound, grid, {.first = grid.floor(first), .largest = grid.floor(largest)}, 0, values, 0));
}

/// For any shape and tightness of larger balls, finds the largest grid radius that holds by its own ball.
TEST(NestedSearch, FindsRootsOfAllShapesFromAllStarts) {
  const auto shapes = test::bound_shapes();
  for (const double root : {1e-7, 0.37, 420.0}) {
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      for (const double first : {1e-6, 0.05, 37.0}) {
        for (const double worse : {0.0, 0.5, 100.0}) {
          const NestedFormula bound(
              [&](Index, double r, double ball) { return shapes[s](r / root) - worse * (ball - r) / root; });
          const double found = searched(bound, first);
          EXPECT_LT(found, root);
          EXPECT_GE(found * 1.001001, root) << "shape " << s << ", first " << first << ", worse " << worse;
          EXPECT_LE(bound.balls, 60) << "shape " << s << ", first " << first << ", worse " << worse << ", root "
                                     << root;
        }
      }
    }
  }
}

TEST(NestedSearch, TakesFewBallsWhereBoundsBend) {
  const NestedFormula bound(
      [](Index, double r, double ball) { return 1 - 2.8 * r - 0.2 * std::pow(r / 0.25, 6) - 2 * (ball - r); });
  EXPECT_GT(searched(bound, 0.01), 0.2);
  EXPECT_LE(bound.balls, 6);
}

TEST(NestedSearch, TakesTheLeastOfAPointsFunctionals) {
  const NestedFormula bound([](Index f, double r, double) { return 1 - r / (f == 1 ? 0.2 : 0.3); });
  EXPECT_NEAR(searched(bound, 0.01, {1, 1, 2}), 0.2, 2e-4);
  EXPECT_EQ(searched(bound, 0.01, {1, -1}), 0);
}

TEST(NestedSearch, EndsAtTheLargestAndAtNothing) {
  const NestedFormula always([](Index, double, double) { return 1.0; });
  EXPECT_NEAR(searched(always, 0.01, {1}, 5), 5, 0.006);
  const NestedFormula never([](Index, double, double) { return -1.0; });
  EXPECT_EQ(searched(never, 0.01), 0);
  EXPECT_EQ(searched(never, 1e-307), 0);
  const NestedFormula unknown([](Index, double, double) { return -std::numeric_limits<double>::infinity(); });
  EXPECT_EQ(searched(unknown, 0.01), 0);
}

}  // namespace
}  // namespace widelimit
