#include "widelimit/data/catalogue/synthetic.hpp"

#include "fixture.hpp"

#include <cmath>
#include <numbers>

namespace widelimit {
namespace {

TEST(SyntheticTest, BalancedFiniteAndRepeatable) {
  for (const Synthetic& kind : synthetics()) {
    SyntheticOptions options;
    const Dataset data = make_synthetic(kind, options);
    EXPECT_EQ(data.count(), 400) << kind.name;
    EXPECT_EQ(data.shape.size(), 2) << kind.name;
    for (Index i = 0; i < 400; ++i) {
      EXPECT_EQ(data.labels[static_cast<std::size_t>(i)], i % 2);
      EXPECT_TRUE(std::isfinite(value(data, i, 0)) && std::isfinite(value(data, i, 1)));
    }
    EXPECT_EQ(value(make_synthetic(kind, options), 37, 1), value(data, 37, 1)) << kind.name;
    options.seed = 1;
    EXPECT_NE(value(make_synthetic(kind, options), 37, 1), value(data, 37, 1)) << kind.name;
    options.seed = 0;
    options.n = 38;
    EXPECT_EQ(value(make_synthetic(kind, options), 37, 1), value(data, 37, 1)) << "a smaller set is a prefix";
  }
}

TEST(SyntheticTest, WithoutNoisePointsLieOnTheirCurves) {
  SyntheticOptions options;
  options.noise = 0;
  const Dataset spirals = make_synthetic(synthetics()[0], options);
  const Dataset circles = make_synthetic(synthetics()[1], options);
  for (Index i = 0; i < 400; ++i) {
    const double side = static_cast<double>(i % 2);
    const double r = std::hypot(value(spirals, i, 0), value(spirals, i, 1));
    const double angle = 3 * std::numbers::pi * r + std::numbers::pi * side;
    EXPECT_NEAR(value(spirals, i, 0), r * std::cos(angle), 1e-13);
    EXPECT_NEAR(value(spirals, i, 1), r * std::sin(angle), 1e-13);
    EXPECT_NEAR(std::hypot(value(circles, i, 0), value(circles, i, 1)), 1 - side / 2, 1e-15);
  }
}

TEST(SyntheticTest, AbsurdArgumentsAreErrors) {
  SyntheticOptions options;
  for (const Index n : {Index{-1}, Index{0}, Index{1}, Index{1} << 40}) {
    options.n = n;
    expect_error(Code::usage, {"n ="}, [&] { (void)make_synthetic(synthetics()[0], options); });
  }
  options.n = 2;
  options.noise = std::numeric_limits<double>::infinity();
  expect_error(Code::usage, {"noise"}, [&] { (void)make_synthetic(synthetics()[0], options); });
}

}  // namespace
}  // namespace widelimit
