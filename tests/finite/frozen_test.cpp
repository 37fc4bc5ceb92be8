#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/network_file.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/tangent/path_kernel.hpp"
#include "widelimit/finite/training/stable_rate.hpp"
#include "widelimit/finite/training/train.hpp"

#include "../data/fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

/// Images of 3 × 3 positions, or vectors of 9 features, with targets ±1.
struct FrozenPoints {
  Matrix<double> x;
  Matrix<double> y;

  explicit FrozenPoints(Index n) : x(n, 9), y(n, 1) {
    Random(4, 1).normals(0, n * 9, 1.0, x.data());
    for (Index i = 0; i < n; ++i) y(i, 0) = x(i, 0) + x(i, 3) * x(i, 4) > 0 ? 1.0 : -1.0;
  }
  [[nodiscard]] TrainData data(const Shape& shape) const { return {{x.view(), shape}, y.view()}; }
};

struct FrozenNet {
  const char* network;
  Shape shape;
};
const FrozenNet frozen_nets[]{
    {"dense(b_std=0.3, frozen=true) erf dense(b_std=0.2) erf dense(b_std=0.1, frozen=true)", {1, 1, 9}},
    {"dense(b_std=0.3) erf dense(b_std=0.2, frozen=true) erf dense(b_std=0.1)", {1, 1, 9}},
    {"dense(frozen=true) residual{ erf dense | dense(frozen=true) } erf dense(frozen=true)", {1, 1, 9}},
    {"conv(b_std=0.2, frozen=true) erf conv(b_std=0.1) erf global_avg_pool dense", {3, 3, 1}},
    {"conv erf attention(frozen=true) erf flatten dense(frozen=true)", {3, 3, 1}},
};

/// Frozen slots are bit-identical to initialisation; every trained slot has changed.
template <std::floating_point T>
void expect_frozen(const TrainedNetwork& trained) {
  const auto& start = std::get<Parameters<T>>(trained.start);
  const auto& end = std::get<Parameters<T>>(trained.parameters);
  Index moved = 0;
  for (std::size_t l = 0; l < start.slots.size(); ++l) {
    const bool same = start.slots[l].w == end.slots[l].w && start.slots[l].b == end.slots[l].b;
    EXPECT_NE(same, trained.architecture.slots[l].trained) << "slot " << l;
    if (trained.architecture.slots[l].trained) moved += std::ssize(end.slots[l].w) + std::ssize(end.slots[l].b);
  }
  EXPECT_EQ(trained.summary.weights, moved);
}

TEST(FrozenLayers, KeepTheirBitsInEveryKindOfTraining) {
  const FrozenPoints points(8);
  for (const FrozenNet& where : frozen_nets) {
    for (int kind = 0; kind < 6; ++kind) {
      TrainOptions options{.width = 6, .lambda = 0.1, .rate = 0.01, .steps = 5};
      if (kind == 1) options.optimiser = {.momentum = 0.9};
      if (kind == 2) options.batch = 3;
      if (kind == 3) options.linearised = true, options.centred = true;
      if (kind == 4) options.flow_time = 0.05, options.steps = 1000;
      if (kind == 5) options.regulariser = Regulariser::aux, options.parameterisation = Parameterisation::standard;
      for (const Precision precision : {Precision::f64, Precision::f32}) {
        SCOPED_TRACE(fmt::format("{}, {} in {}", where.network, kind, to_string(precision)));
        options.precision = precision;
        const TrainedNetwork trained = train(Network::parse(where.network), points.data(where.shape), options);
        ASSERT_TRUE(trained.summary.finished()) << trained.summary.message;
        EXPECT_LT(trained.record.objective.back(), trained.record.objective.front());
        precision == Precision::f32 ? expect_frozen<float>(trained) : expect_frozen<double>(trained);
      }
    }
  }
}

/// One gradient step against central differences of Σl + λ/2·‖w − w₀‖² with respect to the trained weights only.
TEST(FrozenLayers, StepIsTheGradientByTheTrainedWeights) {
  const FrozenPoints points(4);
  for (const FrozenNet& where : frozen_nets) {
    SCOPED_TRACE(where.network);
    const TrainOptions options{.width = 3, .regulariser = Regulariser::none, .rate = 1e-3, .steps = 1};
    const TrainedNetwork trained = train(Network::parse(where.network), points.data(where.shape), options);
    Parameters<double> w = std::get<Parameters<double>>(trained.start);
    const auto& end = std::get<Parameters<double>>(trained.parameters);
    const auto x = read_samples<double>({points.x.view(), where.shape}, trained.architecture.input);
    const auto loss = [&] {
      const Trace<double> trace = forward(trained.architecture, w, x);
      double sum = 0;
      for (Index i = 0; i < 4; ++i) sum += loss_value(options.loss, trace.output()[i], points.y(i, 0));
      return sum;
    };
    for (std::size_t l = 0; l < w.slots.size(); ++l) {
      if (!trained.architecture.slots[l].trained) continue;
      const auto check = [&](Values<double>& values, const Values<double>& after) {
        constexpr double h = 1e-5;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double before = values[i];
          values[i] = before + h;
          const double above = loss();
          values[i] = before - h;
          const double below = loss();
          values[i] = before;
          EXPECT_NEAR((before - after[i]) / 1e-3, (above - below) / (2 * h), 1e-7) << "slot " << l;
        }
      };
      check(w.slots[l].w, end.slots[l].w);
      check(w.slots[l].b, end.slots[l].b);
    }
  }
}

/// The output layer above frozen ones is linear in its weights: the network equals its linearisation, which is the
/// machine of its empirical kernel (Train, LinearisedNetworkIsTheMachineOfItsEmpiricalKernel).
TEST(FrozenLayers, OutputLayerAloneIsItsOwnLinearisation) {
  const FrozenPoints points(11);
  for (const Index batch : {0, 4}) {
    TrainOptions options{.width = 30, .loss = {LossKind::logistic}, .lambda = 0.3, .rate = 0.01, .steps = 60};
    options.batch = batch;
    options.optimiser = {.momentum = 0.5};
    options.centred = true;
    const Network network = Network::parse("fc:2(b_std=0.2, frozen=2)");
    const TrainedNetwork itself = train(network, points.data({1, 1, 9}), options);
    options.linearised = true;
    const TrainedNetwork linear = train(network, points.data({1, 1, 9}), options);
    ASSERT_EQ(itself.record.outputs.size(), linear.record.outputs.size());
    for (std::size_t i = 0; i < itself.record.outputs.size(); ++i) {
      EXPECT_NEAR(itself.record.outputs[i], linear.record.outputs[i], 1e-12);
    }
  }
}

TEST(FrozenLayers, GradientsEndAtTheFirstTrainedLayer) {
  const auto architecture = Architecture::make(
      Network::parse("dense(frozen=true) erf residual{ dense(frozen=true) | dense(frozen=true) } erf dense erf dense"),
      {1, 1, 4}, {.hidden = 5});
  const auto parameters = draw_parameters<double>(architecture, 1);
  Tensor<double> x(3, {1, 1, 4});
  Random(2).normals(0, x.size(), 1.0, x.data());
  const auto trace = forward(architecture, parameters, x);
  Tensor<double> ones(3, architecture.output);
  std::fill_n(ones.data(), ones.size(), 1.0);
  const auto gradient = backward(architecture, parameters, trace, ones, {.input_signal = false});
  for (std::size_t k = 0; k < architecture.stages.size(); ++k) {
    EXPECT_EQ(gradient.signals.values[k].count(), k > 4 ? 3 : 0) << k;
  }
  EXPECT_EQ(backward(architecture, parameters, trace, ones).input().count(), 3);
}

TEST(FrozenLayers, StableRateIsThatOfTheirKernel) {
  const FrozenPoints points(20);
  for (const char* text : {"dense relu dense(frozen=true)", "dense(frozen=true) relu dense"}) {
    const auto architecture = Architecture::make(Network::parse(text), {1, 1, 9}, {.hidden = 40});
    const auto w = draw_parameters<double>(architecture, 3);
    const auto x = read_samples<double>({points.x.view(), {1, 1, 9}}, {1, 1, 9});
    const Matrix<double> kernel = empirical_ntk(architecture, w, x, x);
    std::vector<double> v(20, 1.0);
    double largest = 0;
    for (int step = 0; step < 200; ++step) {
      std::vector<double> next(20, 0.0);
      for (Index i = 0; i < 20; ++i) {
        for (Index j = 0; j < 20; ++j) next[usize(i)] += kernel(i, j) * v[usize(j)];
      }
      largest = 0;
      for (const double value : next) largest += value * value;
      largest = std::sqrt(largest);
      for (std::size_t i = 0; i < 20; ++i) v[i] = next[i] / largest;
    }
    const auto rate = stable_rate(architecture, w, x, {.lambda = 0.5}, all_processors());
    ASSERT_TRUE(rate);
    EXPECT_NEAR(*rate, 2 / (0.5 + 2 * largest), 0.1 * *rate) << text;
  }
}

TEST(FrozenLayers, WhatCannotBeTrainedIsRefused) {
  const FrozenPoints points(4);
  const auto message = [&](const char* network, Regulariser regulariser) -> std::string {
    try {
      (void)train(Network::parse(network), points.data({1, 1, 9}),
                  {.width = 4, .regulariser = regulariser, .lambda = 0.1, .steps = 1});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::input);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("fc:2(frozen=3)", Regulariser::init).find("nothing to train"), std::string::npos);
  EXPECT_NE(message("dense relu dense(frozen=true)", Regulariser::output).find("which is frozen"), std::string::npos);
  EXPECT_NE(message("dense relu dense(frozen=true)", Regulariser::weights).find("which is frozen"), std::string::npos);
  EXPECT_EQ(message("fc:2(frozen=2)", Regulariser::output), "");
  EXPECT_EQ(message("dense relu dense(frozen=true)", Regulariser::init), "");
}

// Linear in the trained weights, so that the first-order error of the theorem vanishes.
TEST(FrozenLayers, RandomFeaturesAreTheirPathMachineExactly) {
  const FrozenPoints points(7);
  for (const LossKind kind : {LossKind::squared, LossKind::hinge, LossKind::logistic}) {
    TrainOptions options{.width = 12, .loss = {kind}, .regulariser = Regulariser::output, .lambda = 0.5, .rate = 0.002};
    options.steps = 50;
    const NetAsMachine net =
        train_as_kernel_machine(Network::parse("fc:2(b_std=0.3, frozen=2)"), points.data({1, 1, 9}), options);
    ASSERT_TRUE(net.difference);
    EXPECT_LT(net.difference->largest(), 1e-12) << to_string(kind);
    EXPECT_GT(net.difference->moved, 0.05);
  }
}

TEST(FrozenLayers, PathMachineOfATrainedFirstLayerIsFirstOrder) {
  const FrozenPoints points(5);
  double before = 0;
  for (const Index finer : {1, 2, 4}) {
    TrainOptions options{.width = 24, .regulariser = Regulariser::none, .rate = 0.02 / static_cast<double>(finer)};
    options.steps = 40 * finer;
    const NetAsMachine net =
        train_as_kernel_machine(Network::parse("dense erf dense(frozen=true)"), points.data({1, 1, 9}), options);
    ASSERT_TRUE(net.difference);
    const double now = net.difference->largest();
    EXPECT_LT(now, 0.2 * net.difference->moved);
    if (finer > 1) {
      EXPECT_NEAR(before / now, 2.0, 0.3);
    }
    before = now;
  }
}

class FrozenFile : public Folder {};

TEST_F(FrozenFile, RemembersWhatWasFrozen) {
  const FrozenPoints points(5);
  for (const FrozenNet& where : frozen_nets) {
    SavedNetwork saved;
    saved.trained = train(Network::parse(where.network), points.data(where.shape), {.width = 4, .steps = 3});
    saved.notes.record = "{}";
    save_network(path("f.h5"), saved.trained, saved.notes);
    const SavedNetwork again = load_network(path("f.h5"));
    EXPECT_EQ(again.trained.network, saved.trained.network);
    EXPECT_EQ(again.trained.summary.weights, saved.trained.summary.weights);
    expect_frozen<double>(again.trained);
  }
}

}  // namespace
}  // namespace widelimit
