#include "tests/base/normal_rows.hpp"
#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/gram.hpp"

#include "published_sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

class SweepOf : public testing::TestWithParam<std::string> {
 protected:
  const std::unique_ptr<Engine> engine = test::engine_named(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Engines, SweepOf, testing::ValuesIn(test::engines_and_cuda({"cpu", "reference", "emulated"})),
                         [](const auto& of) { return of.param; });

/// Compares with the networks of the first i hidden layers, their first j weight layers frozen, one at a time.
TEST_P(SweepOf, EveryEntryIsANetworkOfItsOwn) {
  const Network network = Network::parse("dense(b_std=0.2) relu dense(w_std=1.3) erf dense(b_std=0.1) relu dense");
  const Matrix<double> x = normal_rows(7, 4, 31);
  const SampleView view(x.view(), {1, 1, 4});
  const Sweep all = sweep(network, view, {}, *engine);
  ASSERT_EQ(all.hidden_layers, 3);
  const auto& values = std::get<Matrix<double>>(all.values);
  for (Index i = 0; i <= 3; ++i) {
    Network cut;
    cut.layers.assign(network.layers.begin(), network.layers.begin() + 2 * i + 1);
    const LayerContributions parts = layer_contributions(cut, view, {}, *engine);
    for (Index j = 0; j <= 3; ++j) {
      for (Index k = 0; k < 49; ++k) {
        double expected = 0;
        for (Index l = j; l <= i; ++l) {
          expected += std::get<Matrix<double>>(parts.ntk[static_cast<std::size_t>(l)]).data()[k];
        }
        EXPECT_NEAR(values.data()[(i * 4 + j) * 49 + k], expected, 1e-13 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST_P(SweepOf, AgreesWithThePublishedProgram) {
  std::string absent;
  for (const PublishedSweep& theirs : published_sweeps(absent)) {
    const Network network = Network::parse("fc:" + std::to_string(theirs.depths - 1));
    const Sweep ours = sweep(network, theirs.samples(), {}, *engine);
    const auto& values = std::get<Matrix<double>>(ours.values);
    for (Index k = 0; k < theirs.depths * theirs.depths * theirs.n * theirs.n; ++k) {
      // Data sets with equal rows: the published program takes square roots of differences with cancellation.
      const double expected = theirs.values.data()[k];
      EXPECT_NEAR(values.data()[k] * theirs.features(), expected, 1e-8 * (1 + std::abs(expected)));
    }
  }
  if (!absent.empty()) GTEST_SKIP() << absent;
}

TEST_P(SweepOf, SizesAndPrecisions) {
  for (const Index n : {0, 1, 2, 37}) {
    const Matrix<double> x = normal_rows(n, 3, 31);
    const Sweep f32 = sweep(Network::parse("fc:2"), {x.view(), {1, 1, 3}}, {.precision = Precision::f32}, *engine);
    const Sweep f64 = sweep(Network::parse("fc:2"), {x.view(), {1, 1, 3}}, {}, *engine);
    const auto& single = std::get<Matrix<float>>(f32.values);
    const auto& twice = std::get<Matrix<double>>(f64.values);
    ASSERT_EQ(single.rows(), 9 * n);
    for (Index k = 0; k < 9 * n * n; ++k)
      EXPECT_NEAR(single.data()[k], twice.data()[k], 1e-5 * (1 + std::abs(twice.data()[k])));
  }
}

}  // namespace
}  // namespace widelimit
