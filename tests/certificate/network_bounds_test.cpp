#include "widelimit/certificate/network/network_bounds.hpp"

#include "drawn_network.hpp"
#include "tests/base/normal_rows.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/certificate/network/enclose_affine.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

using test::drawn_network;
using test::DrawnOptions;

constexpr Index bound_samples = WIDELIMIT_SANITIZED != 0 ? 20 : 200;

Enclosure ball_of(const Matrix<double>& rows, const Shape& shape, double radius) {
  Enclosure ball;
  ball.resize(rows.rows(), shape);
  std::copy_n(rows.data(), ball.centre.size(), ball.centre.data());
  std::fill(ball.radius.values().begin(), ball.radius.values().end(), radius);
  return ball;
}

/// Returns a point of every ball: inside, or a corner.
Tensor<double> inside(const Enclosure& ball, std::uint64_t seed) {
  Tensor<double> x;
  x.assign(ball.centre);
  const Random random(seed);
  for (Index i = 0; i < x.size(); ++i) {
    const double u = 2 * random.uniform(static_cast<std::uint64_t>(i)) - 1;
    x[i] += ball.radius[i] * (seed % 2 == 0 ? u : std::copysign(1.0, u));
  }
  return x;
}

struct BoundCase {
  const char* text;
  Shape shape;
};

class EveryLayer : public ::testing::TestWithParam<BoundCase> {};

/// Outputs at points of the ball lie in the enclosure of the ball, for every layer, parameterisation and radius;
/// computed independently by the forward pass of finite networks. Its rounding is covered by the last term.
TEST_P(EveryLayer, HoldsOutputsOfPointsInTheBall) {
  const auto [text, shape] = GetParam();
  for (const Parameterisation how : {Parameterisation::ntk, Parameterisation::standard}) {
    const TrainedNetwork net = drawn_network(text, shape, {.width = 7, .outputs = 3, .parameterisation = how});
    const auto& w = std::get<Parameters<double>>(net.parameters);
    for (const double radius : {0.0, 1e-3, 0.1, 2.0}) {
      const Enclosure ball = ball_of(normal_rows(2, shape.size(), 3), net.architecture.input, radius);
      Enclosure bound = ball;
      enclose_stages(net.architecture, net.parameters, net.architecture.stages, bound, all_processors());
      ASSERT_EQ(bound.centre.shape(), net.architecture.output);
      for (Index trial = 0; trial < bound_samples / 8; ++trial) {
        const Trace<double> trace = forward(net.architecture, w, inside(ball, static_cast<std::uint64_t>(trial)));
        for (Index i = 0; i < bound.centre.size(); ++i) {
          const double off = std::abs(trace.output()[i] - bound.centre[i]);
          ASSERT_LE(off, bound.radius[i] * (1 + 1e-12) + 1e-12) << text << " radius " << radius;
        }
      }
      if (radius == 0) {
        for (Index i = 0; i < bound.radius.size(); ++i) EXPECT_LT(bound.radius[i], 1e-10) << text;
      }
    }
  }
}

const Shape image{5, 4, 2};
const Shape vector{1, 1, 6};
INSTANTIATE_TEST_SUITE_P(
    NetworkBounds, EveryLayer,
    ::testing::Values(BoundCase{"dense", vector}, BoundCase{"dense(b_std=0.3) relu dense(b_std=0.1)", vector},
                      BoundCase{"dense relu dense erf dense tanh dense", vector},
                      BoundCase{"dense sigmoid dense softplus dense swish dense", vector},
                      BoundCase{"dense gelu dense sin dense cos dense abs dense", vector},
                      BoundCase{"dense gaussian dense rbf dense leaky_relu(slope=0.2) dense", vector},
                      BoundCase{"dense monomial(degree=2) dense rectified_monomial(degree=2) dense", vector},
                      BoundCase{"relu dense identity dense", vector}, BoundCase{"scale(by=-2) dense exp dense", vector},
                      BoundCase{"dense relu layer_norm dense", vector},
                      BoundCase{"layer_norm dense relu dense", vector},
                      BoundCase{"dense dropout(rate=0.5) relu dense", vector},
                      BoundCase{"conv(b_std=0.2) relu flatten dense", image},
                      BoundCase{"conv(strides=2) relu conv(padding=VALID,kernel=2) relu flatten dense", image},
                      BoundCase{"conv(padding=CIRCULAR) relu global_avg_pool dense", image},
                      BoundCase{"conv avg_pool relu sum_pool(window=2,strides=1,padding=SAME) flatten dense", image},
                      BoundCase{"conv relu max_pool conv relu global_sum_pool dense", image},
                      BoundCase{"conv residual{ relu conv relu conv } global_avg_pool dense", image},
                      BoundCase{"dense residual{ relu dense | dense } layer_norm relu dense", vector}));

/// Sums with full cancellation: the enclosure of a point contains the long double result, although the error of the
/// computed centre is much larger than its ulp.
TEST(EncloseAffine, HoldsRoundingOfSumsThatCancel) {
  constexpr Index terms = 999;
  const WeightSlot slot{.fan_in = terms, .fan_out = 3, .w_scale = 0.37, .b_scale = 1e3};
  Weights<double> weights{std::vector<double>(terms * 3), std::vector<double>{0.1, -0.2, 0.3}};
  const Random random(5);
  Enclosure a;
  a.resize(1, {1, 1, terms});
  a.radius.clear();
  for (Index i = 0; i < terms; ++i) {
    a.centre[i] =
        random.normal(static_cast<std::uint64_t>(i)) * std::exp(10 * random.uniform(static_cast<std::uint64_t>(i)));
    for (Index j = 0; j < 3; ++j) {
      const auto draw = static_cast<std::uint64_t>(4000 + i * 3 + j);
      weights.w[static_cast<std::size_t>(i * 3 + j)] = random.normal(draw) * 1e6;
    }
  }
  Enclosure z;
  enclose_affine<double>(slot, weights, nullptr, a, z, all_processors());
  for (Index j = 0; j < 3; ++j) {
    long double sum = 0;
    for (Index i = 0; i < terms; ++i) {
      sum += static_cast<long double>(a.centre[i]) * weights.w[static_cast<std::size_t>(i * 3 + j)];
    }
    const long double exact =
        slot.w_scale * sum + static_cast<long double>(slot.b_scale) * weights.b[static_cast<std::size_t>(j)];
    EXPECT_LE(std::abs(static_cast<double>(exact - z.centre[j])), z.radius[j]);
    EXPECT_GT(z.radius[j], 0);
  }
}

TEST(EncloseAffine, IsExactForOneLayerUpToRounding) {
  const TrainedNetwork net = drawn_network("dense(b_std=1)", {1, 1, 37}, {.outputs = 5});
  const auto& w = std::get<Parameters<double>>(net.parameters).slots[0].w;
  const double scale = net.architecture.slots[0].w_scale;
  Enclosure bound = ball_of(normal_rows(1, 37, 2), {1, 1, 37}, 0.25);
  enclose_stages(net.architecture, net.parameters, net.architecture.stages, bound, all_processors());
  for (Index j = 0; j < 5; ++j) {
    double sum = 0;
    for (Index i = 0; i < 37; ++i) sum += std::abs(w[static_cast<std::size_t>(i * 5 + j)]);
    EXPECT_NEAR(bound.radius[j], 0.25 * scale * sum, 1e-12 * sum);
  }
}

TEST(EncloseAffine, DoesNotDependOnThreadsAndTakesNoSamples) {
  const TrainedNetwork net = drawn_network("fc:2", {1, 1, 9}, {.width = 700, .precision = Precision::f32});
  Enclosure one = ball_of(normal_rows(3, 9, 2), {1, 1, 9}, 0.1);
  Enclosure four = one;
  enclose_stages(net.architecture, net.parameters, net.architecture.stages, one, *make_engine("cpu", {.threads = 1}));
  enclose_stages(net.architecture, net.parameters, net.architecture.stages, four, *make_engine("cpu", {.threads = 4}));
  for (Index i = 0; i < one.centre.size(); ++i) {
    EXPECT_EQ(one.centre[i], four.centre[i]);
    EXPECT_EQ(one.radius[i], four.radius[i]);
  }
  Enclosure none;
  none.resize(0, {1, 1, 9});
  enclose_stages(net.architecture, net.parameters, net.architecture.stages, none, all_processors());
  EXPECT_EQ(none.count(), 0);
}

TEST(NetworkBounds, NamesTheLayerItCannotPass) {
  for (const char* text : {"dense attention flatten dense", "dense relu dense hermite(degree=2) dense",
                           "dense residual{ dense polynomial(coef=[1,2]) dense | dense } dense"}) {
    try {
      require_bounds(drawn_network(text, {2, 1, 4}).architecture.stages);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::usage);
      EXPECT_NE(std::string(error.what()).find("layer"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace widelimit
