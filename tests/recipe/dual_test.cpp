#include "widelimit/recipe/dual.hpp"

#include "widelimit/engine/reference/activation.hpp"
#include "widelimit/network/network.hpp"
#include "widelimit/recipe/quadrature/gauss_rules.hpp"
#include "widelimit/recipe/rectified_monomial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numbers>

namespace widelimit {
namespace {

using Real = long double;

struct Covariance {
  Real q1;
  Real q2;
  Real c;
};

/// Moderate variances, mostly unequal, and correlations of both signs.
const std::vector<Covariance> covariances = {{1, 1, 0.5L},        {0.7L, 1.9L, -0.6L}, {0.2L, 0.3L, 0.1L},
                                             {2.5L, 0.4L, 0.95L}, {1.3L, 1.1L, 0},     {0.9L, 1.6L, -1.1L}};

/// ∫ f over [from, to] by a composite four-point Gauss–Legendre rule. An open rule, so that intervals may end at a
/// jump.
template <typename F>
Real integrate(Real from, Real to, int panels, const F& f) {
  const Real half = (to - from) / static_cast<Real>(2 * panels);
  Real sum = 0;
  for (int panel = 0; panel < panels; ++panel) {
    const Real middle = from + half * static_cast<Real>(2 * panel + 1);
    for (const Real side : {-1.0L, 1.0L}) {
      sum += 0.652145154862546142627L * f(middle + side * 0.339981043584856264803L * half);
      sum += 0.347854845137453857373L * f(middle + side * 0.861136311594052575224L * half);
    }
  }
  return sum * half;
}

/// E[f(u)f(v)] by definition in polar coordinates: (u,v) = L·s(cos φ, sin φ), density s·e^{−s²/2}/2π. The circle is
/// split where u or v changes sign, so that functions with a kink or jump at 0 are smooth on each part.
Real expectation(const std::function<Real(Real)>& f, const Covariance& k) {
  const Real l11 = std::sqrt(k.q1);
  const Real l21 = k.c / l11;
  const Real l22 = std::sqrt(k.q2 - l21 * l21);
  const Real pi = std::numbers::pi_v<Real>;
  std::vector<Real> cuts{0, pi / 2, 3 * pi / 2, 2 * pi};
  for (const Real turn : {-1.0L, 0.0L, 1.0L, 2.0L}) {
    const Real zero_of_v = std::atan2(-l21, l22) + pi * turn;
    if (zero_of_v > 0 && zero_of_v < 2 * pi) cuts.push_back(zero_of_v);
  }
  std::sort(cuts.begin(), cuts.end());
  Real total = 0;
  for (std::size_t piece = 0; piece + 1 < cuts.size(); ++piece) {
    total += integrate(cuts[piece], cuts[piece + 1], 24, [&](Real angle) {
      const Real u = l11 * std::cos(angle);
      const Real v = l21 * std::cos(angle) + l22 * std::sin(angle);
      return integrate(0, 12, 60, [&](Real s) { return s * std::exp(-s * s / 2) * f(s * u) * f(s * v); });
    });
  }
  return total / (2 * pi);
}

Recipe recipe_of(const std::string& activation) {
  return lower(Network::parse("dense " + activation + " dense"), {1, 1, 3}, RecipeOutputs::ntk);
}

class Duals : public testing::TestWithParam<std::string> {};

TEST_P(Duals, ClosedFormIsTheExpectation) {
  const Network network = Network::parse("dense " + GetParam() + " dense");
  const auto& activation = std::get<Activation>(network.layers[1].value);
  const Recipe recipe = recipe_of(GetParam());
  for (const Covariance& k : covariances) {
    const auto value = reference::dual_value(recipe, recipe.steps[1].dual, {k.q1, k.q2, k.c});
    const Real sigma =
        expectation([&](Real x) { return static_cast<Real>(evaluate(activation, static_cast<double>(x))); }, k);
    const Real dot =
        expectation([&](Real x) { return static_cast<Real>(derivative(activation, static_cast<double>(x))); }, k);
    const Real scale = 1 + std::abs(sigma) + std::abs(dot);
    // For panels of this size the error is below 1e-9 for smooth integrands of order one.
    EXPECT_NEAR(static_cast<double>(value.sigma), static_cast<double>(sigma), static_cast<double>(1e-8L * scale));
    EXPECT_NEAR(static_cast<double>(value.dot), static_cast<double>(dot), static_cast<double>(1e-8L * scale));
  }
}

INSTANTIATE_TEST_SUITE_P(Closed, Duals,
                         testing::Values("relu", "leaky_relu(slope=0.3)", "leaky_relu(slope=1.7)", "abs", "erf", "gelu",
                                         "sin", "cos", "gaussian", "rbf(gamma=0.3)", "monomial(degree=3)",
                                         "rectified_monomial(degree=1)", "rectified_monomial(degree=2)",
                                         "rectified_monomial(degree=4)", "polynomial(coef=[0.1,0.5,-0.2,0.05])", "tanh",
                                         "sigmoid", "swish", "softplus"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });

TEST(Duals, SignIsTheExpectationAndTrainsNothing) {
  for (const Covariance& k : covariances) {
    const auto value = sign_dual<Real>({k.q1, k.q2, k.c});
    EXPECT_NEAR(static_cast<double>(value.sigma),
                static_cast<double>(expectation([](Real x) { return Real((x > 0) - (x < 0)); }, k)), 1e-7);
    EXPECT_EQ(value.dot, 0);
  }
}

TEST(Duals, ExpIsTheMomentGeneratingFunction) {
  for (const Covariance& k : covariances) {
    EXPECT_NEAR(static_cast<double>(exp_dual<Real>({k.q1, k.q2, k.c}).sigma),
                static_cast<double>(expectation([](Real x) { return std::exp(x); }, k)), 1e-6);
  }
}

/// Price's theorem: dE[φφ]/dc = E[φ'φ'].
TEST(Duals, SlopeOfSigmaIsDot) {
  for (const std::string name :
       {"relu", "leaky_relu(slope=0.2)", "abs", "erf", "gelu", "sin", "cos", "exp", "gaussian", "rbf(gamma=0.7)",
        "monomial(degree=4)", "rectified_monomial(degree=3)", "rectified_monomial(degree=8)", "hermite(degree=3)"}) {
    const Recipe recipe = recipe_of(name);
    for (const Covariance& k : covariances) {
      const Real h = 1e-5L;
      const auto at = [&](Real c) { return reference::dual_value(recipe, recipe.steps[1].dual, {k.q1, k.q2, c}); };
      const Real slope = (at(k.c + h).sigma - at(k.c - h).sigma) / (2 * h);
      EXPECT_NEAR(static_cast<double>(at(k.c).dot / (1 + std::abs(slope))),
                  static_cast<double>(slope / (1 + std::abs(slope))), 1e-8)
          << name;
    }
  }
}

TEST(GaussHermite, IntegratesMoments) {
  for (const int order : {1, 2, 7, 40, 256}) {
    const GaussHermite rule = gauss_hermite(order);
    Real moment = 1;  // E[z^{2k}] = (2k−1)!!
    for (int k = 0; 2 * k < 2 * order && k < 12; ++k) {
      if (k > 0) moment *= static_cast<Real>(2 * k - 1);
      Real sum = 0;
      for (std::size_t q = 0; q < rule.nodes.size(); ++q) sum += rule.weights[q] * std::pow(rule.nodes[q], 2 * k);
      EXPECT_NEAR(static_cast<double>(sum / moment), 1, 1e-15) << order << ", " << k;
    }
  }
}

TEST(RectifiedMonomial, KnownPolynomials) {
  // J_2 = 3 sinθ cosθ + (π−θ)(1 + 2cos²θ)                                        (Cho & Saul 2009)
  const ArccosinePolynomials j = arccosine_polynomials(2);
  EXPECT_EQ(j.a, (std::vector<double>{0, 3}));
  EXPECT_EQ(j.b, (std::vector<double>{1, 0, 2}));
}

}  // namespace
}  // namespace widelimit
