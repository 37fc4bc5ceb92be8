#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/network/network.hpp"

#include "published_sweep.hpp"
#include "tests/base/normal_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace widelimit {
namespace {

/// A network with frozen layers, and the path that the `cpu` engine uses for it.
struct FrozenCase {
  const char* network;
  Shape shape;
  const char* route;
};

const std::vector<FrozenCase>& frozen_cases() {
  static const Shape vector{1, 1, 5};
  static const Shape image{5, 4, 2};
  constexpr const char* planes = "displacement planes";
  static const std::vector<FrozenCase> list{
      {"dense(frozen=true) relu dense(w_std=1.3) relu dense", vector, ""},
      {"dense relu dense(w_std=1.3, frozen=true) leaky_relu dense(w_std=1.5, frozen=true)", vector, ""},
      {"dense(b_std=0.4, frozen=true) relu dense(b_std=0.3) abs dense(b_std=0.2, frozen=true)", vector, ""},
      {"dense(b_std=0.4) erf dense(b_std=0.3, frozen=true) gelu dense(b_std=0.2)", vector, ""},
      {"dense(frozen=true) tanh dense(b_std=0.1) sigmoid dense(frozen=true)", vector, ""},
      {"dense layer_norm relu dense(frozen=true) dropout(rate=0.7) dense", vector, ""},
      {"dense(frozen=true) residual{ relu dense | dense(w_std=0.5, frozen=true) } relu scale(by=2) dense", vector, ""},
      {"conv(w_std=1.4, frozen=true) relu conv relu flatten dense(frozen=true)", image, planes},
      {"conv relu conv(b_std=0.3, frozen=true) relu conv(strides=2) relu global_avg_pool dense", image, planes},
      {"conv(b_std=0.2, frozen=true) relu avg_pool conv erf global_avg_pool dense(b_std=0.1, frozen=true)", image,
       planes},
      {"conv residual{ relu conv(frozen=true) | conv } relu dropout(rate=0.8) flatten dense(frozen=true)", image,
       planes},
      {"conv relu attention(frozen=true) relu conv(frozen=true) flatten dense", image, "general image path"},
      {"conv(frozen=true) residual{ avg_pool(window=2, strides=1, padding=SAME) conv(frozen=true) | conv } relu "
       "flatten "
       "dense",
       image, "general image path"},
  };
  return list;
}

Network thawed(std::string text) {
  for (std::size_t at = text.find("true"); at != std::string::npos; at = text.find("true"))
    text.replace(at, 4, "false");
  return Network::parse(text);
}

double number_of(const AnyMatrix& matrix, Index i, Index j) {
  return std::visit([&](const auto& values) { return static_cast<double>(values(i, j)); }, matrix);
}

/// Contribution of the trained layers to the NTK of the network with all layers trained, by the reference engine.
Matrix<double> sum_of_trained(const Network& network, const SampleView& x) {
  const auto oracle = make_engine("reference");
  const LayerContributions own = layer_contributions(network, x, {}, *oracle);
  const LayerContributions all = layer_contributions(thawed(network.to_text()), x, {}, *oracle);
  Matrix<double> sum(x.count(), x.count());
  for (std::size_t l = 0; l < own.layers.size(); ++l) {
    if (own.layers[l].find("frozen=true") != std::string::npos) continue;
    for (Index k = 0; k < sum.rows() * sum.cols(); ++k) {
      sum.data()[k] += std::get<Matrix<double>>(all.ntk[l]).data()[k];
    }
  }
  return sum;
}

class FrozenOn : public testing::TestWithParam<std::string> {
 protected:
  const std::unique_ptr<Engine> engine = test::engine_named(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Engines, FrozenOn, testing::ValuesIn(test::engines_and_cuda({"cpu", "emulated"})),
                         [](const auto& of) { return of.param; });

// float32: rounding errors of 6e-8, a few hundred of them in the sums for images.
TEST(Frozen, KernelIsTheSumOfTheTrainedLayers) {
  for (const FrozenCase& where : frozen_cases()) {
    const Network network = Network::parse(where.network);
    const Matrix<double> x = normal_rows(37, where.shape.size(), 4);
    const Matrix<double> few = normal_rows(5, where.shape.size(), 4);  // the first of them
    const Matrix<double> expected = sum_of_trained(network, {few.view(), where.shape});
    double scale = 0;
    for (Index i = 0; i < 5; ++i) scale = std::max(scale, expected(i, i));
    ASSERT_GT(scale, 0);
    for (const std::string& engine : test::engines_and_cuda({"cpu", "reference", "emulated"})) {
      const auto machine = test::engine_named(engine);
      const bool fast = engine == "cpu";
      const SampleView samples = fast ? SampleView{x.view(), where.shape} : SampleView{few.view(), where.shape};
      for (const Precision precision : {Precision::f64, Precision::f32}) {
        SCOPED_TRACE(fmt::format("{} on {}, {}", where.network, engine, to_string(precision)));
        const Gram square = gram(network, samples, {.precision = precision}, *machine);
        const Gram rectangle =
            gram(network, samples.part(0, 2), samples.part(2, 3), {.precision = precision}, *machine);
        const double tolerance = (precision == Precision::f64 ? 1e-12 : 2e-5) * scale;
        for (Index i = 0; i < 5; ++i) {
          for (Index j = 0; j < 5; ++j) {
            EXPECT_NEAR(number_of(square.ntk, i, j), expected(i, j), tolerance);
            if (i < 2 && j >= 2) {
              EXPECT_NEAR(number_of(rectangle.ntk, i, j - 2), expected(i, j), tolerance);
            }
          }
        }
        if (fast) {
          EXPECT_NE(square.route.find(where.route), std::string::npos) << square.route;
        }
      }
    }
  }
}

TEST_P(FrozenOn, LayersContributeNothing) {
  for (const FrozenCase& where : frozen_cases()) {
    SCOPED_TRACE(where.network);
    const Network network = Network::parse(where.network);
    const Matrix<double> x = normal_rows(3, where.shape.size(), 6);
    const SampleView samples{x.view(), where.shape};
    const LayerContributions parts = layer_contributions(network, samples, {}, *engine);
    const Diagonal own = diagonal(network, samples, *engine);
    const Gram whole = gram(network, samples, {.kind = Kind::both}, *engine);
    const Gram thawed_whole = gram(thawed(where.network), samples, {.kind = Kind::nngp}, *engine);
    Matrix<double> sum(3, 3);
    for (std::size_t l = 0; l < parts.layers.size(); ++l) {
      const auto& part = std::get<Matrix<double>>(parts.ntk[l]);
      const bool frozen = parts.layers[l].find("frozen=true") != std::string::npos;
      for (Index k = 0; k < 9; ++k) {
        if (frozen) {
          EXPECT_EQ(part.data()[k], 0) << parts.layers[l];
        }
        sum.data()[k] += part.data()[k];
      }
      if (!frozen) {
        EXPECT_GT(part(0, 0), 0);
      }
    }
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        EXPECT_NEAR(number_of(whole.ntk, i, j), sum(i, j), 1e-12 * (1 + sum(i, i) + sum(j, j)));
        EXPECT_EQ(number_of(whole.nngp, i, j), number_of(thawed_whole.nngp, i, j));
      }
      EXPECT_NEAR(own.values(1, i), sum(i, i), 1e-12 * sum(i, i));
    }
  }
}

/// NT-L: training only the first layer of a two-layer network gives H = ⟨x,x'⟩/d·(π − arccos ρ)/(2π). The angle is
/// computed from both diagonals of the rhombus of unit vectors, without cancellation.
/// [docs/theory/kernels.md]
TEST(Frozen, FirstLayerAloneHasAClosedForm) {
  const Index n = 24, d = 7;
  Matrix<double> x = normal_rows(n, d, 8);
  for (Index i = 0; i < n; ++i) {
    double square = 0;
    for (Index k = 0; k < d; ++k) square += x(i, k) * x(i, k);
    for (Index k = 0; k < d && i < 12; ++k) x(i, k) /= std::sqrt(square);  // half of them of norm 1
  }
  for (Index k = 0; k < d; ++k) {
    x(1, k) = x(0, k);          // equal
    x(2, k) = -x(0, k);         // antipodal
    x(13, k) = 2.5 * x(12, k);  // parallel
    x(14, k) = 0;
    x(15, k) = x(12, k) + 1e-7 * x(16, k);  // nearly parallel
  }
  const auto expected = [&](Index i, Index j) {
    long double inner = 0, a = 0, b = 0;
    for (Index k = 0; k < d; ++k) {
      inner += static_cast<long double>(x(i, k)) * x(j, k);
      a += static_cast<long double>(x(i, k)) * x(i, k);
      b += static_cast<long double>(x(j, k)) * x(j, k);
    }
    if (a == 0 || b == 0) return 0.0L;
    a = std::sqrt(a), b = std::sqrt(b);
    long double minus = 0, plus = 0;
    for (Index k = 0; k < d; ++k) {
      minus += (x(i, k) / a - x(j, k) / b) * (x(i, k) / a - x(j, k) / b);
      plus += (x(i, k) / a + x(j, k) / b) * (x(i, k) / a + x(j, k) / b);
    }
    const long double pi = std::numbers::pi_v<long double>;
    const long double angle = 2 * std::atan2(std::sqrt(minus), std::sqrt(plus));
    return inner / d * (pi - angle) / (2 * pi);
  };
  for (const std::string& engine : test::engines_and_cuda({"cpu", "reference", "emulated"})) {
    const Gram found =
        gram(Network::parse("dense relu dense(frozen=true)"), {x.view(), {1, 1, d}}, {}, *test::engine_named(engine));
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        const double scale = std::sqrt(static_cast<double>(2 * expected(i, i) * 2 * expected(j, j)));
        EXPECT_NEAR(number_of(found.ntk, i, j), static_cast<double>(expected(i, j)), 1e-14 * scale) << i << ' ' << j;
      }
    }
    EXPECT_NEAR(static_cast<double>(d) * number_of(found.ntk, 0, 0), 0.5, 1e-14);  // u = 1
  }
}

TEST_P(FrozenOn, LastLayerAloneHasTheKernelOfTheProcess) {
  const Matrix<double> x = normal_rows(9, 18, 3);
  const std::pair<const char*, Shape> cases[]{
      {"fc:2(b_std=0.3, frozen=2)", {1, 1, 18}},
      {"conv(frozen=true) relu conv(frozen=true) relu global_avg_pool dense(b_std=0.2)", {3, 3, 2}}};
  for (const auto& [text, shape] : cases) {
    const Gram both = gram(Network::parse(text), {x.view(), shape}, {.kind = Kind::both}, *engine);
    for (Index i = 0; i < 9; ++i) {
      for (Index j = 0; j < 9; ++j) {
        EXPECT_NEAR(number_of(both.ntk, i, j), number_of(both.nngp, i, j), 1e-15 * number_of(both.nngp, i, i)) << text;
      }
    }
  }
}

/// Bitwise, since one channel of the sweep performs the same operations as the single network. In float32 only if all
/// activations are rectifiers: a network with erf runs in float64 and is rounded, whereas its prefixes without erf do
/// not.
TEST(Frozen, SweepHoldsTheKernelOfEveryFrozenNetwork) {
  for (const char* text : {"dense(b_std=0.2) relu dense(w_std=1.3) erf dense(b_std=0.1) relu dense", "fc:3(w_std=1.4)",
                           "dense relu dense(frozen=true) relu dense relu dense"}) {
    const Network network = Network::parse(text);
    const Matrix<double> x = normal_rows(37, 6, 5);
    const SampleView samples{x.view(), {1, 1, 6}};
    for (const std::string engine : {"cpu", "reference"}) {
      const auto machine = make_engine(engine);
      for (const Precision precision : {Precision::f64, Precision::f32}) {
        if (precision == Precision::f32 && network.to_text().find("erf") != std::string::npos) continue;
        const Sweep all = sweep(network, samples, {.precision = precision}, *machine);
        for (Index i = 0; i <= 3; ++i) {
          for (Index j = 0; j <= i; ++j) {
            const Gram one = gram(cut_network(network, i, j), samples, {.precision = precision}, *machine);
            double worst = 0;
            for (Index r = 0; r < 37; ++r) {
              for (Index c = 0; c < 37; ++c) {
                worst = std::max(worst,
                                 std::abs(number_of(all.values, (4 * i + j) * 37 + r, c) - number_of(one.ntk, r, c)));
              }
            }
            EXPECT_EQ(worst, 0) << text << ", " << engine << ' ' << to_string(precision) << ' ' << i << ' ' << j;
          }
        }
      }
    }
  }
}

/// The published program computes arccos of a cosine, which for t = 1 − |ρ| has an error of eps/√t in every layer.
TEST(Frozen, NetworksAgreeWithThePublishedProgram) {
  const auto engine = make_engine("cpu");
  std::string absent;
  for (const PublishedSweep& theirs : published_sweeps(absent)) {
    const SampleView samples = theirs.samples();
    for (Index i = 0; i < theirs.depths; ++i) {
      const Gram deepest = gram(Network::parse(fmt::format("fc:{}", i)), samples, {.kind = Kind::nngp}, *engine);
      for (Index j = 0; j <= i; ++j) {
        const Gram ours = gram(Network::parse(fmt::format("fc:{}(frozen={})", i, j)), samples, {}, *engine);
        for (Index r = 0; r < theirs.n; ++r) {
          for (Index c = 0; c < theirs.n; ++c) {
            const auto& nngp = deepest.nngp;
            const double deviation = std::sqrt(number_of(nngp, r, r) * number_of(nngp, c, c));
            const double t = 1 - std::abs(number_of(nngp, r, c)) / deviation;
            const double rounding = 2.2e-16 * 8 * static_cast<double>(i) / std::sqrt(std::max(t, 1e-16));
            const double scale = std::sqrt(theirs.at(i, j, r, r) * theirs.at(i, j, c, c));
            EXPECT_NEAR(number_of(ours.ntk, r, c) * theirs.features(), theirs.at(i, j, r, c),
                        (1e-12 + rounding) * scale)
                << theirs.set << ' ' << i << ' ' << j << ' ' << r << ' ' << c;
          }
        }
      }
    }
  }
  if (!absent.empty()) GTEST_SKIP() << absent;
}

TEST_P(FrozenOn, NetworkWithoutTrainedLayerHasTheKernelZero) {
  const std::pair<const char*, Shape> cases[]{
      {"fc:2(frozen=3, b_std=0.3)", {1, 1, 4}},
      {"conv(frozen=true) relu avg_pool flatten dense(b_std=0.1, frozen=true)", {4, 4, 1}},
      {"conv(frozen=true) relu attention(frozen=true) flatten dense(frozen=true)", {2, 3, 2}}};
  for (const auto& [text, shape] : cases) {
    const Network network = Network::parse(text);
    const Matrix<double> x = normal_rows(3, shape.size(), 2);
    const Gram found = gram(network, {x.view(), shape}, {.kind = Kind::both}, *engine);
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) EXPECT_EQ(number_of(found.ntk, i, j), 0);
      EXPECT_GT(number_of(found.nngp, i, i), 0);
    }
    EXPECT_NE(zero_kernel_warning(network, Kind::both).find("NTK is 0"), std::string::npos);
    EXPECT_THROW(require_trained_layer(network, Kind::ntk), Error);
    EXPECT_EQ(zero_kernel_warning(network, Kind::nngp), "");
    EXPECT_NO_THROW(require_trained_layer(network, Kind::nngp));
  }
  EXPECT_EQ(zero_kernel_warning(Network::parse("fc:1(frozen=1)"), Kind::ntk), "");
}

}  // namespace
}  // namespace widelimit
