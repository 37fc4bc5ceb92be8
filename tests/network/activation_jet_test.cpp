#include "widelimit/network/activation_jet.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

std::vector<Activation> smooth_activations() {
  return {{.phi = Phi::erf},
          {.phi = Phi::gelu},
          {.phi = Phi::sin},
          {.phi = Phi::cos},
          {.phi = Phi::exp},
          {.phi = Phi::gaussian},
          {.phi = Phi::rbf, .gamma = 0.7},
          {.phi = Phi::monomial, .degree = 5},
          {.phi = Phi::monomial, .degree = 1},
          {.phi = Phi::rectified_monomial, .degree = 4},
          {.phi = Phi::hermite, .degree = 4},
          {.phi = Phi::polynomial, .coef = {0.3, -1, 0.5, 2, -0.25}},
          {.phi = Phi::identity},
          {.phi = Phi::tanh},
          {.phi = Phi::sigmoid},
          {.phi = Phi::swish},
          {.phi = Phi::softplus}};
}

/// Central differences of each derivative give the next one: error h²/6·|φ⁗| < 1e-8·50 and rounding ε/h < 1e-11.
TEST(ActivationJet, EachDerivativeIsTheSlopeOfTheOneBefore) {
  constexpr double h = 1e-4;
  for (const Activation& phi : smooth_activations()) {
    for (const double x : {-2.1, -0.4, 0.3, 1.7}) {
      const Jet at = jet(phi, x);
      const Jet above = jet(phi, x + h);
      const Jet below = jet(phi, x - h);
      EXPECT_EQ(at.value, evaluate(phi, x));
      EXPECT_NEAR(at.first, (above.value - below.value) / (2 * h), 1e-6) << to_string(phi.phi) << " " << x;
      EXPECT_NEAR(at.second, (above.first - below.first) / (2 * h), 1e-6) << to_string(phi.phi) << " " << x;
      EXPECT_NEAR(at.third, (above.second - below.second) / (2 * h), 1e-6) << to_string(phi.phi) << " " << x;
      EXPECT_EQ(smoothness(phi), Smoothness::smooth);
    }
  }
}

TEST(ActivationJet, KnowsSignsUnderReflection) {
  for (const Activation& phi : smooth_activations()) {
    bool odd = true;
    bool even = true;
    for (const double x : {0.3, 1.1, 2.5}) {
      odd = odd && std::abs(evaluate(phi, -x) + evaluate(phi, x)) < 1e-15;
      even = even && std::abs(evaluate(phi, -x) - evaluate(phi, x)) < 1e-15;
    }
    EXPECT_EQ(has_parity(phi), odd || even) << to_string(phi.phi);
  }
  EXPECT_TRUE(has_parity({.phi = Phi::abs}));
  EXPECT_FALSE(has_parity({.phi = Phi::relu}));
}

TEST(ActivationJet, OfKinksAndJumps) {
  EXPECT_EQ(smoothness({.phi = Phi::relu}), Smoothness::kinked);
  EXPECT_EQ(smoothness({.phi = Phi::rectified_monomial, .degree = 2}), Smoothness::kinked);
  EXPECT_EQ(jet({.phi = Phi::leaky_relu}, -2).first, 0.01);
  EXPECT_EQ(jet({.phi = Phi::relu}, 2).second, 0);
  EXPECT_EQ(smoothness({.phi = Phi::rectified_monomial, .degree = 0}), Smoothness::none);
  EXPECT_THROW((void)jet({.phi = Phi::sign}, 1), Error);
}

}  // namespace
}  // namespace widelimit
