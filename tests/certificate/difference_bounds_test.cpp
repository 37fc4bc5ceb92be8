#include "widelimit/certificate/network/difference_bounds.hpp"

#include "drawn_network.hpp"
#include "tests/base/normal_rows.hpp"
#include "widelimit/certificate/network/network_bounds.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

using test::drawn_network;

constexpr Index difference_samples = WIDELIMIT_SANITIZED != 0 ? 4 : 40;

class EveryDifference : public ::testing::TestWithParam<std::pair<const char*, Shape>> {};

/// f − f₀ at points of a ball lies in the enclosure of the difference, which is not wider than the difference of both
/// intervals; the initial network has slightly perturbed weights.
TEST_P(EveryDifference, HoldsDifferencesOfPointsInTheBall) {
  const auto& [text, shape] = GetParam();
  TrainedNetwork net = drawn_network(text, shape, {.width = 7, .outputs = 3});
  const auto& w = std::get<Parameters<double>>(net.parameters);
  auto& start = std::get<Parameters<double>>(net.start);
  for (std::size_t l = 0; l < w.slots.size(); ++l) {
    for (std::size_t i = 0; i < w.slots[l].w.size(); ++i)
      start.slots[l].w[i] = w.slots[l].w[i] + 0.05 * start.slots[l].w[i];
  }
  for (const double radius : {0.0, 0.01, 0.5}) {
    const Matrix<double> rows = normal_rows(2, shape.size(), 3);
    Enclosure ball;
    ball.resize(2, net.architecture.input);
    std::copy_n(rows.data(), ball.centre.size(), ball.centre.data());
    std::fill(ball.radius.values().begin(), ball.radius.values().end(), radius);
    EnclosedPair pair{ball, ball, ball};
    pair.difference.centre.clear();
    pair.difference.radius.clear();
    enclose_difference(net.architecture, net.parameters, net.start, net.architecture.stages, all_processors(), pair);
    for (Index i = 0; i < pair.difference.radius.size(); ++i) {
      EXPECT_LE(pair.difference.radius[i], (pair.trained.radius[i] + pair.start.radius[i]) * (1 + 1e-9) + 1e-9) << text;
    }
    for (Index trial = 0; trial < difference_samples; ++trial) {
      Tensor<double> x;
      x.assign(ball.centre);
      const Random random(static_cast<std::uint64_t>(trial));
      for (Index i = 0; i < x.size(); ++i) {
        const double u = 2 * random.uniform(static_cast<std::uint64_t>(i)) - 1;
        x[i] += radius * (trial % 2 == 0 ? u : std::copysign(1.0, u));
      }
      const Trace<double> f = forward(net.architecture, w, x);
      const Trace<double> f0 = forward(net.architecture, start, x);
      for (Index i = 0; i < f.output().size(); ++i) {
        const double off = std::abs(f.output()[i] - f0.output()[i] - pair.difference.centre[i]);
        ASSERT_LE(off, pair.difference.radius[i] * (1 + 1e-12) + 1e-12) << text << " radius " << radius;
      }
    }
  }
}

const Shape pair_image{5, 4, 2};
const Shape pair_vector{1, 1, 6};
INSTANTIATE_TEST_SUITE_P(
    DifferenceBounds, EveryDifference,
    ::testing::Values(std::pair{"dense", pair_vector}, std::pair{"dense(b_std=0.3) relu dense(b_std=0.1)", pair_vector},
                      std::pair{"dense leaky_relu(slope=-0.3) dense erf dense tanh dense", pair_vector},
                      std::pair{"dense sigmoid dense softplus dense swish dense", pair_vector},
                      std::pair{"dense gelu dense sin dense cos dense abs dense", pair_vector},
                      std::pair{"dense gaussian dense identity dense rbf dense", pair_vector},
                      std::pair{"dense relu layer_norm dense", pair_vector},
                      std::pair{"dense residual{ relu dense } scale(by=-2) dense", pair_vector},
                      std::pair{"conv(b_std=0.2) relu avg_pool conv relu flatten dense", pair_image},
                      std::pair{"conv relu max_pool dropout conv relu global_sum_pool dense", pair_image}));

}  // namespace
}  // namespace widelimit
