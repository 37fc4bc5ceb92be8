#include "widelimit/certificate/search/radius_search.hpp"

#include "tests/certificate/bound_shapes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace widelimit {
namespace {

/// Bounds given by a formula of functional and radius; also counts evaluations.
class FormulaBound final : public LowerBound {
 public:
  explicit FormulaBound(std::function<double(Index, double)> formula) : formula_(std::move(formula)) {}
  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    ++rounds;
    std::vector<double> bounds;
    for (const BallQuery& query : queries) bounds.push_back(formula_(query.functional, query.radius));
    return bounds;
  }
  mutable int rounds = 0;

 private:
  std::function<double(Index, double)> formula_;
};

double searched(const FormulaBound& bound, double first, double tolerance = 1e-3, double largest = 1e6) {
  const std::vector<Functional> functionals{{.point = 0, .plus = 0}};
  const std::vector<double> values{1};
  const RadiusGrid grid(tolerance);
  const std::vector<SearchRange> ranges{{.first = grid.floor(first), .largest = grid.floor(largest)}};
  return grid.radius(search_radii(bound, {functionals, values}, grid, ranges, all_processors(), nullptr).front());
}

TEST(RadiusSearch, FindsRootsOfAllShapesFromAllStarts) {
  const auto shapes = test::bound_shapes();
  for (const double root : {1e-7, 0.37, 420.0}) {
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      for (const double first : {1e-6, 0.05, 37.0}) {
        const FormulaBound bound([&](Index, double r) { return shapes[s](r / root); });
        const double found = searched(bound, first);
        EXPECT_LT(found, root);
        EXPECT_GE(found * 1.001001, root) << "shape " << s << ", first " << first;
        EXPECT_LE(bound.rounds, 60) << "shape " << s << ", first " << first << ", root " << root;
      }
    }
  }
}

TEST(RadiusSearch, GivesNoSmallerRadiusToABetterBound) {
  for (int k = 0; k < 200; ++k) {
    const double root = 0.1 * std::exp(0.037 * k);
    const FormulaBound worse([&](Index, double r) { return 1 - std::pow(r / root, 3); });
    const FormulaBound better([&](Index, double r) { return 1 - std::pow(r / (root * (1 + 1e-9)), 1.1); });
    EXPECT_LE(searched(worse, 0.01), searched(better, 3.0));
  }
}

TEST(RadiusSearch, TakesTheLeastOfAPointsFunctionals) {
  const std::vector<Functional> functionals{{.point = 0, .plus = 0}, {.point = 0, .plus = 1}, {.point = 2, .plus = 0}};
  const std::vector<double> values{1, 1, -1};
  const FormulaBound bound([](Index f, double r) { return f == 0 ? 1 - r : (f == 1 ? 1 - r / 0.2 : 1.0); });
  const RadiusGrid grid(1e-6);
  const std::vector<SearchRange> ranges(3, SearchRange{.first = grid.floor(0.01), .largest = grid.floor(10)});
  const std::vector<Index> places = search_radii(bound, {functionals, values}, grid, ranges, all_processors(), nullptr);
  EXPECT_NEAR(grid.radius(places[0]), 0.2, 1e-6);
  EXPECT_EQ(grid.radius(places[1]), 0);  // no functionals
  EXPECT_EQ(grid.radius(places[2]), 0);  // negative at the point itself
}

TEST(RadiusSearch, EndsAtTheLargestAndAtNothing) {
  const FormulaBound always([](Index, double) { return 1.0; });
  EXPECT_NEAR(searched(always, 0.01, 1e-3, 5), 5, 0.006);
  const FormulaBound never([](Index, double) { return -1.0; });
  EXPECT_EQ(searched(never, 0.01), 0);
  EXPECT_EQ(searched(never, 1e-307), 0);  // terminates before radii underflow
  const FormulaBound unknown([](Index, double) { return -std::numeric_limits<double>::infinity(); });
  EXPECT_EQ(searched(unknown, 0.01), 0);
}

}  // namespace
}  // namespace widelimit
