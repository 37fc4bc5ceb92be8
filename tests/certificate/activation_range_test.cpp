#include "widelimit/engine/enclosure/activation_range.hpp"

#include "widelimit/base/random.hpp"
#include "widelimit/certificate/network/network_bounds.hpp"
#include "widelimit/engine/layers.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace widelimit {
namespace {

constexpr int interval_trials = WIDELIMIT_SANITIZED != 0 ? 20 : 300;

std::vector<Activation> ranged_activations() {
  std::vector<Activation> all;
  for (int phi = 0; phi <= static_cast<int>(Phi::softplus); ++phi) {
    Activation activation;
    activation.phi = static_cast<Phi>(phi);
    if (has_range(activation.phi)) all.push_back(activation);
  }
  all.push_back({.phi = Phi::leaky_relu, .slope = -0.5});
  for (const Index degree : {0, 1, 3, 4, 7}) {
    all.push_back({.phi = Phi::monomial, .degree = degree});
    all.push_back({.phi = Phi::rectified_monomial, .degree = degree});
  }
  all.push_back({.phi = Phi::rbf, .gamma = 3.7});
  return all;
}

Interval range_of(const Activation& activation, const Interval& x) {
  return activation_range(scalar_function(activation).value(), x);
}

/// The range contains every value between the endpoints, and is not wider than the range on a fine grid by more than
/// the grid spacing explains.
TEST(ActivationRange, HoldsEveryValueAndNoMuchMore) {
  const Random random(7);
  std::uint64_t draw = 0;
  for (const Activation& activation : ranged_activations()) {
    for (int trial = 0; trial < interval_trials; ++trial) {
      const double middle = 4 * random.normal(draw++);
      const double half = std::exp(4 * random.uniform(draw++) - 3);
      const Interval x{middle - half, middle + half};
      const Interval y = range_of(activation, x);
      double least = std::numeric_limits<double>::infinity();
      double most = -least;
      double steepest = 0;
      constexpr int grid = 400;
      for (int k = 0; k <= grid; ++k) {
        const double at = std::min(x.high, x.low + 2 * half * k / grid);
        const double value = evaluate(activation, at);
        least = std::min(least, value);
        most = std::max(most, value);
        steepest = std::max(steepest, std::abs(derivative(activation, at)));
      }
      ASSERT_LE(y.low, least) << to_string(activation.phi);
      ASSERT_GE(y.high, most) << to_string(activation.phi);
      const double explained = 2 * steepest * (2 * half / grid) + 1e-6 + 1e-9 * std::abs(most);
      if (activation.phi == Phi::rectified_monomial && activation.degree == 0) continue;
      EXPECT_GE(y.low, least - explained) << to_string(activation.phi) << " on " << x.low << ", " << x.high;
      EXPECT_LE(y.high, most + explained) << to_string(activation.phi) << " on " << x.low << ", " << x.high;
    }
  }
}

TEST(ActivationRange, FindsExtremaBetweenTheEnds) {
  EXPECT_EQ(range_of({.phi = Phi::abs}, {-2, 1}).low, 0);
  EXPECT_EQ(range_of({.phi = Phi::abs}, {-2, 1}).high, 2);
  EXPECT_EQ(range_of({.phi = Phi::gaussian}, {-2, 1}).high, 1);
  EXPECT_EQ(range_of({.phi = Phi::sin}, {1, 2}).high, 1);
  EXPECT_LT(range_of({.phi = Phi::sin}, {1, 1.5}).high, 1);
  EXPECT_EQ(range_of({.phi = Phi::cos}, {3, 3.2}).low, -1);
  EXPECT_EQ(range_of({.phi = Phi::sin}, {-1e9, -1e9}).low, -1);
  EXPECT_LT(range_of({.phi = Phi::gelu}, {-1, 0}).low, -0.16997);
  EXPECT_LT(range_of({.phi = Phi::swish}, {-2, 0}).low, -0.27846);
}

TEST(ActivationRange, OfAnEndThatIsNoNumberIsAll) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Activation& activation : ranged_activations()) {
    EXPECT_EQ(range_of(activation, {-infinity, 1}).low, -infinity);
    EXPECT_EQ(range_of(activation, {0, std::nan("")}).high, infinity);
  }
}

}  // namespace
}  // namespace widelimit
