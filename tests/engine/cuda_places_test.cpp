#include "tests/base/random_graphs.hpp"
#include "tests/engine/device_kernels.hpp"
#include "tests/kernel/random_limit_network.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/engine/cuda/cuda.hpp"
#include "widelimit/engine/cuda/device.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/network/activation.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

/// Images with correlated neighbouring positions, as in photographs.
Matrix<double> images(Index n, const Shape& shape, std::uint64_t seed = 7) {
  Matrix<double> x(n, shape.size());
  const Random random(seed);
  for (Index i = 0; i < n; ++i) {
    const double mean = random.normal(static_cast<std::uint64_t>(i));
    for (Index k = 0; k < shape.size(); ++k) {
      x(i, k) = mean + 0.4 * random.normal(static_cast<std::uint64_t>(1000 + i * shape.size() + k));
    }
  }
  return x;
}

/// Networks on images without displacement planes on the device, and networks on graphs.
class CudaPlaces : public test::DeviceKernels {};

INSTANTIATE_TEST_SUITE_P(Engines, CudaPlaces, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& of) { return of.param; });

/// An ulp ε of ρ after a sum over positions becomes ε/√(8ε) < 1e-8 in the arc cosine if 1 − ρ exceeds 8 ulps, at single
/// pairs of positions; means over all pairs have errors of at most 1e-11. float32: states are rounded to 6e-8, with 1 −
/// ρ relative to itself, and sums are in float64, so that each layer adds about 6e-8.
TEST_P(CudaPlaces, ImagesAgreeWithTheFormulas) {
  const auto reference = make_engine("reference");
  for (const char* network :
       {"conv erf conv(b_std=0.3) gelu global_avg_pool dense", "conv sin avg_pool conv cos flatten dense",
        "conv relu attention flatten dense", "conv(b_std=0.2) relu attention conv relu global_avg_pool dense",
        "conv layer_norm gaussian conv sign conv monomial(degree=3) flatten dense(b_std=0.1)",
        "conv rectified_monomial(degree=2) avg_pool conv layer_norm relu global_avg_pool dense",
        "conv relu residual{ avg_pool(window=3x3, strides=1x1, padding=same) conv relu conv } global_avg_pool dense",
        "conv residual{ relu conv | erf conv(b_std=0.4) } abs conv exp flatten dense",
        "conv relu dropout(rate=0.7) conv erf avg_pool dropout(rate=0.9) conv relu flatten dense",
        "conv polynomial(coef=[0.5, 1, 0.25]) conv(strides=2x2) hermite(degree=2) flatten dense"}) {
    SCOPED_TRACE(network);
    for (const Shape& shape : {Shape{4, 4, 2}, Shape{5, 3, 1}}) {
      const Matrix<double> x = images(5, shape);
      const SampleView all{x.view(), shape};
      EXPECT_LE(difference(network, all.part(0, 2), all.part(2, 3), Precision::f64, *reference), 1e-11);
      EXPECT_LE(difference(network, all.part(0, 2), all.part(2, 3), Precision::f32, *reference), 1e-6);
    }
  }
}

/// Random series-parallel networks over all layers, only some of which planes support.
TEST_P(CudaPlaces, RandomNetworksEqualTheProcessor) {
  const Shape shape{3, 4, 2};
  const Matrix<double> x = images(4, shape);
  const SampleView all{x.view(), shape};
  int computed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::string text = test::RandomLimitNetwork(seed, true).text();
    const Network network = Network::parse(text);
    if (!limit_formula(network).obstacle.empty()) continue;
    if (!engine_->kernels().obstacle(lower(network, shape, RecipeOutputs::both), Precision::f64).empty()) continue;
    EXPECT_LE(difference(text, all.part(0, 2), all.part(1, 3), Precision::f64, *cpu_), 1e-10) << text;
    ++computed;
  }
  EXPECT_GT(computed, 20);
}

/// Duals by quadrature; compared with the cpu, because the reference is slow. Other tests compare the cpu with it.
TEST_P(CudaPlaces, LogisticActivationsEqualTheProcessor) {
  const Shape shape{5, 4, 2};
  Matrix<double> x = images(7, shape);
  for (Index k = 0; k < shape.size(); ++k) {
    x(1, k) *= 30;  // deviations for which the series have too few terms
    x(4, k) *= 40;
  }
  const SampleView all{x.view(), shape};
  for (const char* network :
       {"conv tanh conv sigmoid flatten dense", "conv(padding=circular) swish global_avg_pool dense softplus dense"}) {
    EXPECT_LE(difference(network, all.part(0, 3), all.part(3, 4), Precision::f64, *cpu_), 1e-11) << network;
    EXPECT_LE(difference(network, all.part(0, 3), all.part(3, 4), Precision::f32, *cpu_), 1e-7) << network;
  }
}

TEST_P(CudaPlaces, SharesOfLayersEqualTheProcessor) {
  const Shape shape{4, 6, 2};
  const Matrix<double> x = images(5, shape);
  const Network network = Network::parse("conv erf avg_pool conv relu attention conv erf conv gelu flatten dense");
  const LayerContributions ours = layer_contributions(network, {x.view(), shape}, {}, *engine_);
  const LayerContributions exact = layer_contributions(network, {x.view(), shape}, {}, *cpu_);
  ASSERT_EQ(ours.ntk.size(), exact.ntk.size());
  for (std::size_t layer = 0; layer < ours.ntk.size(); ++layer)
    EXPECT_LE(worst(ours.ntk[layer], exact.ntk[layer]), 1e-12);

  const Graphs graphs = test::random_graphs(7, 12, 7);
  const Network gntk = Network::parse("gntk:3");
  const LayerContributions own = layer_contributions(gntk, SampleView(graphs), {}, *engine_);
  const LayerContributions theirs = layer_contributions(gntk, SampleView(graphs), {}, *cpu_);
  ASSERT_EQ(own.ntk.size(), theirs.ntk.size());
  for (std::size_t layer = 0; layer < own.ntk.size(); ++layer) {
    EXPECT_LE(worst(own.ntk[layer], theirs.ntk[layer]), 1e-12);
  }
}

TEST_P(CudaPlaces, TilesAndTheDiagonalAreTheSameKernel) {
  const Shape shape{5, 4, 2};
  const Matrix<double> x = images(9, shape);
  for (const char* text : {"conv erf dropout(rate=0.8) conv relu flatten dense", "conv relu attention flatten dense"}) {
    expect_tiles_of_one_kernel(text, {x.view(), shape});
  }
}

/// Entries of graphs depend only on the pair; so do those of nodes, for a part that begins and ends within graphs.
TEST_P(CudaPlaces, PartsOfGraphsHaveTheSameBits) {
  const Graphs graphs = test::random_graphs(37, 30, 4);
  const GramOptions options{.precision = Precision::f64};
  const auto ntk = [&](const char* network, const SampleView& x1, const std::optional<SampleView>& x2) {
    const Network parsed = Network::parse(network);
    return std::get<Matrix<double>>(
        (x2 ? gram(parsed, x1, *x2, options, *engine_) : gram(parsed, x1, options, *engine_)).ntk);
  };
  const SampleView all(graphs);
  const Matrix<double> whole = ntk("gntk:5", all, std::nullopt);
  const Matrix<double> part = ntk("gntk:5", all.part(3, 6), all.part(20, 11));
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 11; ++j) EXPECT_EQ(part(i, j), whole(3 + i, 20 + j));
  }
  const SampleView nodes(graphs.node_view(), graphs.shape());
  const char* blocks = "aggregate dense relu aggregate dense relu dense";
  const Matrix<double> of_nodes = ntk(blocks, nodes, std::nullopt);
  const Matrix<double> some = ntk(blocks, nodes.part(5, 21), nodes.part(100, 60));
  for (Index i = 0; i < 21; ++i) {
    for (Index j = 0; j < 60; ++j) EXPECT_EQ(some(i, j), of_nodes(5 + i, 100 + j));
  }
  for (Index i = 0; i < nodes.count(); ++i) {
    for (Index j = 0; j < i; ++j) ASSERT_EQ(of_nodes(i, j), of_nodes(j, i));
  }
}

/// A symmetric part of a matrix; for nodes, one that begins and ends within graphs.
TEST_P(CudaPlaces, SymmetricPartsHaveTheSameBits) {
  const Graphs graphs = test::random_graphs(9, 12, 5);
  const SampleView nodes(graphs.node_view(), graphs.shape());
  const Kernels& kernels = engine_->kernels();
  const auto expect_part = [&](const char* text, const SampleView& x, Range part) {
    const Recipe recipe = lower(Network::parse(text), x.shape, RecipeOutputs::ntk);
    const auto loaded = kernels.load(recipe, x, Precision::f64, [](Index) {});
    const auto filled = [&](Range range) {
      const EngineMatrix out = engine_->algebra().allocate(range.size(), range.size(), Precision::f64);
      Index done = 0;
      kernels.fill(recipe, *loaded, range, *loaded, range, true, {&out, 1}, [&](Index pairs) { done = pairs; });
      EXPECT_EQ(done, range.size() * (range.size() + 1) / 2);
      Matrix<double> k(range.size(), range.size());
      engine_->algebra().read(out, k.view());
      return k;
    };
    const Matrix<double> whole = filled({0, x.count()});
    const Matrix<double> some = filled(part);
    for (Index i = 0; i < part.size(); ++i) {
      for (Index j = 0; j < part.size(); ++j) EXPECT_EQ(some(i, j), whole(part.begin + i, part.begin + j)) << text;
    }
  };
  expect_part("gntk:3", SampleView(graphs), {2, 7});
  expect_part("aggregate dense relu aggregate dense relu dense", nodes, {5, 26});
}

/// As for images: states are rounded to float32, sums are not.
TEST_P(CudaPlaces, GraphsInSinglePrecision) {
  const Graphs tagged = test::random_graphs(19, 20, 11);
  const Graphs featured = test::random_graphs(12, 9, 12, 3);
  for (const char* network : {"gntk:6", "gntk:3(mlp=1, scale=uniform, jk=false)",
                              "aggregate dense relu residual{ aggregate dense relu dense } global_sum_pool dense"}) {
    for (const SampleView& x : {SampleView(tagged), SampleView(featured)}) {
      EXPECT_LE(difference(network, x.part(0, 5), x, Precision::f32, *cpu_), 1e-6) << network;
    }
  }
}

/// Zero samples give no pairs; one sample gives its diagonal.
TEST_P(CudaPlaces, NoneAndOne) {
  const Shape shape{3, 3, 1};
  const Matrix<double> x = images(2, shape);
  const SampleView all{x.view(), shape};
  const Kernels& kernels = engine_->kernels();
  const Recipe recipe = lower(Network::parse("conv erf global_avg_pool dense"), shape, RecipeOutputs::ntk);
  const auto none = kernels.load(recipe, all.part(0, 0), Precision::f64, [](Index) {});
  const auto one = kernels.load(recipe, all.part(1, 1), Precision::f64, [](Index) {});
  const EngineMatrix empty = engine_->algebra().allocate(0, 1, Precision::f64);
  kernels.fill(recipe, *none, {0, 0}, *one, {0, 1}, false, {&empty, 1}, [](Index) {});
  const EngineMatrix single = engine_->algebra().allocate(1, 1, Precision::f64);
  kernels.fill(recipe, *one, {0, 1}, *one, {0, 1}, true, {&single, 1}, [](Index) {});
  Matrix<double> diagonal(1, 1);
  kernels.diagonal(recipe, *one, diagonal.view(), [](Index) {});
  Matrix<double> found(1, 1);
  engine_->algebra().read(single, found.view());
  EXPECT_GT(found(0, 0), 0);
  EXPECT_EQ(found(0, 0), diagonal(0, 0));
}

void expect_same(const AnyMatrix& ours, const AnyMatrix& theirs) {
  std::visit(
      [&](const auto& one) {
        const auto& other = std::get<std::decay_t<decltype(one)>>(theirs);
        for (Index k = 0; k < one.rows() * one.cols(); ++k) EXPECT_EQ(one.data()[k], other.data()[k]);
      },
      ours);
}

/// Shared-memory teams and separate passes give the same elements in any order.
TEST(CudaPlaceTeams, AndPassesLeaveTheSameBits) {
  const Shape shape{4, 4, 2};
  const Matrix<double> x = images(5, shape);
  const Graphs graphs = test::random_graphs(9, 12, 1);
  const auto layers = [&](std::int64_t team_bytes, const char* network, const SampleView& samples,
                          Precision precision) {
    const auto engine = make_cuda_engine(test::make_host_device({.team_bytes = team_bytes}), "emulated", 1);
    return layer_contributions(Network::parse(network), samples, {.precision = precision}, *engine).ntk;
  };
  const auto expect_equal = [&](const char* network, const SampleView& samples) {
    SCOPED_TRACE(network);
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const auto teams = layers(1 << 20, network, samples, precision);
      const auto passes = layers(0, network, samples, precision);
      for (std::size_t layer = 0; layer < teams.size(); ++layer) expect_same(teams[layer], passes[layer]);
    }
  };
  const SampleView pictures{x.view(), shape};
  expect_equal("conv erf residual{ avg_pool(window=3x3, strides=1x1, padding=same) conv } global_avg_pool dense",
               pictures);
  expect_equal("conv relu attention residual{ conv relu conv | relu conv } conv relu flatten dense", pictures);
  expect_equal("conv residual{ erf conv erf conv } residual{ abs conv | sin conv } flatten dense", pictures);
  expect_equal("gntk:4", SampleView(graphs));
  expect_equal(
      "aggregate dense residual{ relu aggregate dense | relu dense aggregate relu aggregate dense } "
      "global_avg_pool dense",
      SampleView(graphs));
}

TEST_P(CudaPlaces, WhatLeavesTheRangeIsNamed) {
  expect_range_of_float("conv relu attention global_avg_pool dense", images(4, {4, 4, 1}));
}

/// Zero images have correlation 0 with all others.
TEST_P(CudaPlaces, ZeroImagesAndEqualImages) {
  const Shape shape{4, 4, 2};
  Matrix<double> x = images(4, shape);
  for (Index k = 0; k < shape.size(); ++k) {
    x(1, k) = 0;
    x(3, k) = 2 * x(0, k);
  }
  const SampleView samples{x.view(), shape};
  for (const char* network : {"conv erf global_avg_pool dense", "conv relu attention conv relu flatten dense"}) {
    EXPECT_LE(difference(network, samples, samples, Precision::f64, *cpu_), 1e-11) << network;
    EXPECT_LE(difference(network, samples, samples, Precision::f32, *cpu_), 1e-6) << network;
  }
}

TEST_P(CudaPlaces, OnlyAnActivationOfTheUsersOwnIsRefused) {
  register_activation("cube_of_places", [](std::span<const double> x, std::span<double> y) {
    for (std::size_t k = 0; k < x.size(); ++k) y[k] = x[k] * x[k] * x[k];
  });
  const auto obstacle = [&](const char* text, const Shape& shape) {
    return engine_->kernels().obstacle(lower(Network::parse(text), shape, RecipeOutputs::ntk), Precision::f64);
  };
  const auto refusal = [](const char* name) {
    return fmt::format("the activation '{}' is user-defined or composed of several; only cpu and reference evaluate it",
                       name);
  };
  const std::string own = refusal("cube_of_places");
  EXPECT_EQ(obstacle("conv custom(name=cube_of_places) flatten dense", {8, 8, 3}), own);
  EXPECT_EQ(obstacle("aggregate dense custom(name=cube_of_places) global_sum_pool dense", {1, 1, 1, true}), own);
  EXPECT_EQ(obstacle("conv erf gelu flatten dense", {8, 8, 3}), refusal("erf gelu"));
  EXPECT_EQ(obstacle("conv relu attention flatten dense", {8, 8, 3}), "");
  EXPECT_EQ(obstacle("gntk:3", {1, 1, 1, true}), "");
  const auto route = [&](const char* text, const Shape& shape, Precision precision) {
    return engine_->kernels().route(lower(Network::parse(text), shape, RecipeOutputs::ntk), precision);
  };
  EXPECT_EQ(route("conv erf flatten dense", {8, 8, 3}, Precision::f32),
            "general path on the device (erf on images), equal positions, double");
  EXPECT_EQ(route("conv relu attention flatten dense", {8, 8, 3}, Precision::f32),
            "general path on the device (attention mixes all positions), all position pairs, float");
  EXPECT_EQ(route("gntk:3", {1, 1, 1, true}, Precision::f64),
            "graphs, pairs of nodes on the device, nodes of equal colour merged, double");
}

}  // namespace
}  // namespace widelimit
