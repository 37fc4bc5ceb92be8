#include "tests/engine/engines.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/monte_carlo.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// A zero sample between two others: its pre-activations are identically 0, and every route must use φ(0).
Matrix<double> with_zero() {
  Matrix<double> x(3, 4);
  const double rows[2][4] = {{1.0, -0.5, 0.3, 2.0}, {-0.7, 0.4, 1.1, 0.2}};
  for (Index j = 0; j < 4; ++j) x(0, j) = rows[0][j], x(1, j) = 0, x(2, j) = rows[1][j];
  return x;
}

const Matrix<double>& doubles(const AnyMatrix& matrix) { return std::get<Matrix<double>>(matrix); }

double at_zero(const std::string& activation) {
  return evaluate(std::get<Activation>(Network::parse(activation).layers[0].value), 0);
}

const std::vector<std::string> activations{"relu",
                                           "abs",
                                           "leaky_relu(slope=0.3)",
                                           "erf",
                                           "gelu",
                                           "sin",
                                           "cos",
                                           "sign",
                                           "exp",
                                           "gaussian",
                                           "rbf(gamma=0.4)",
                                           "monomial(degree=0)",
                                           "monomial(degree=2)",
                                           "rectified_monomial(degree=0)",
                                           "rectified_monomial(degree=1)",
                                           "rectified_monomial(degree=3)",
                                           "polynomial(coef=[0.4, 0.7])",
                                           "tanh",
                                           "sigmoid",
                                           "swish",
                                           "softplus",
                                           "relu sigmoid",
                                           "sign cos"};

class ZeroSample : public testing::TestWithParam<std::string> {
 protected:
  const std::unique_ptr<Engine> fast = test::engine_named(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Engines, ZeroSample, testing::ValuesIn(test::engines_and_cuda({"cpu", "emulated"})),
                         [](const auto& of) { return of.param; });

/// The kernel is φ(0)² with itself and φ(0)·E[φ(u)] with another sample, to which sampled networks converge; all back
/// ends and diagonal() agree to rounding.
TEST_P(ZeroSample, AllRoutesTakeTheValueAtZero) {
  const Matrix<double> x = with_zero();
  const Matrix<double> copy = with_zero();
  const SampleView view(x.view(), {1, 1, 4});
  const SampleView other(copy.view(), {1, 1, 4});
  const auto oracle = make_engine("reference");
  for (const std::string& activation : activations) {
    SCOPED_TRACE(activation);
    const Network network = Network::parse("dense " + activation + " dense");
    const Recipe recipe = lower(network, view.shape, RecipeOutputs::both);
    if (!fast->kernels().obstacle(recipe, Precision::f64).empty()) continue;  // several activations, on a device
    const GramOptions options{.kind = Kind::both};
    const Gram expected = gram(network, view, options, *oracle);
    if (activation.find(' ') == std::string::npos) {
      EXPECT_NEAR(doubles(expected.nngp)(1, 1), at_zero(activation) * at_zero(activation), 1e-15);
    }
    for (const Gram& found : {gram(network, view, options, *fast), gram(network, view, other, options, *fast),
                              gram(network, view, other, options, *oracle)}) {
      for (Index k = 0; k < 9; ++k) {
        const bool equal = k % 4 == 0 && !found.symmetric;  // a kink amplifies an ulp of ρ = 1 to 1e-8
        EXPECT_NEAR(doubles(found.nngp).data()[k], doubles(expected.nngp).data()[k], 1e-13) << k;
        EXPECT_NEAR(doubles(found.ntk).data()[k], doubles(expected.ntk).data()[k], equal ? 1e-7 : 1e-12) << k;
      }
    }
    for (const auto* engine : {&fast, &oracle}) {
      const Matrix<double> own = diagonal(network, view, **engine).values;
      for (Index i = 0; i < 3; ++i) {
        EXPECT_NEAR(own(0, i), doubles(expected.nngp)(i, i), 1e-13);
        EXPECT_NEAR(own(1, i), doubles(expected.ntk)(i, i), 1e-12);
      }
    }
    const MonteCarloGram sampled = monte_carlo_gram(network, view, view, {.width = 64, .draws = 200, .seed = 4});
    for (Index j = 0; j < 3; ++j) {
      EXPECT_NEAR(sampled.nngp(1, j), doubles(expected.nngp)(1, j), 5 * sampled.nngp_error(1, j) + 1e-14) << j;
      EXPECT_NEAR(sampled.ntk(1, j), doubles(expected.ntk)(1, j), 5 * sampled.ntk_error(1, j) + 1e-14) << j;
    }
  }
}

/// 1[x ≥ 0] of a zero sample is 1, of other samples 1 with probability ½; only the last layer is trained.
TEST_P(ZeroSample, TheStepFunctionIsOneThere) {
  const Matrix<double> x = with_zero();
  const Gram k = gram(Network::parse("dense rectified_monomial(degree=0) dense"), {x.view(), {1, 1, 4}},
                      {.kind = Kind::both}, *fast);
  for (const auto kind : {&Gram::nngp, &Gram::ntk}) {
    EXPECT_NEAR(doubles(k.*kind)(1, 1), 1, 1e-15);
    EXPECT_NEAR(doubles(k.*kind)(1, 0), 0.5, 1e-15);
    EXPECT_NEAR(doubles(k.*kind)(2, 1), 0.5, 1e-15);
    EXPECT_NEAR(doubles(k.*kind)(0, 0), 0.5, 1e-15);
  }
}

/// Zero positions of an image, on planes and on the general path.
TEST_P(ZeroSample, ZeroPositionsOfImages) {
  Matrix<double> x(2, 8);
  for (Index k = 0; k < 16; ++k) x.data()[k] = k % 5 == 0 ? 0.0 : std::sin(1.0 + static_cast<double>(k));
  for (Index j = 0; j < 2; ++j) x(0, 4 + j) = 0, x(1, 4 + j) = 0, x(1, j) = 0;  // positions 2 of both, 0 of one
  const SampleView view(x.view(), {2, 2, 2});
  for (const std::string text :
       {"conv(kernel=1x1) rectified_monomial(degree=0) flatten dense",
        "conv(kernel=1x1) rectified_monomial(degree=0) global_avg_pool dense relu dense",
        "conv(kernel=1x1) rectified_monomial(degree=0) attention relu flatten dense",
        "conv(kernel=1x1) layer_norm cos global_avg_pool dense", "conv(kernel=1x1) sigmoid conv sign flatten dense"}) {
    SCOPED_TRACE(text);
    const Network network = Network::parse(text);
    const Gram found = gram(network, view, {.kind = Kind::both}, *fast);
    const Gram slow = gram(network, view, {.kind = Kind::both}, *make_engine("reference"));
    for (Index k = 0; k < 4; ++k) {
      EXPECT_NEAR(doubles(found.nngp).data()[k], doubles(slow.nngp).data()[k], 1e-8);  // jumps, as above
      EXPECT_NEAR(doubles(found.ntk).data()[k], doubles(slow.ntk).data()[k], 1e-8);
    }
  }
}

}  // namespace
}  // namespace widelimit
