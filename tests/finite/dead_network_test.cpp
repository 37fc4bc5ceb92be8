#include "widelimit/finite/training/dead_network.hpp"

#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/training/stable_rate.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {
namespace {

/// n samples with positive features, and targets ±1 that are not constant.
struct PositivePoints {
  Matrix<double> x;
  Matrix<double> y;

  PositivePoints(Index n, Index d) : x(n, d), y(n, 1) {
    Random(3, 9).normals(0, n * d, 1.0, x.data());
    std::for_each_n(x.data(), n * d, [](double& value) { value = 0.1 + std::abs(value); });
    for (Index i = 0; i < n; ++i) y(i, 0) = i % 3 == 0 ? 1.0 : -1.0;
  }
  [[nodiscard]] SampleView view() const { return {x.view(), {1, 1, x.cols()}}; }
  [[nodiscard]] TrainData data() const { return {view(), y.view()}; }
};

/// First-layer weights all −1: every ReLU is inactive on positive samples.
Parameters<double> closed(const Architecture& architecture) {
  Parameters<double> parameters = draw_parameters<double>(architecture, 1);
  std::fill(parameters.slots[0].w.begin(), parameters.slots[0].w.end(), -1.0);
  return parameters;
}

TEST(DeadNetwork, NamesTheLayerThatIsClosed) {
  const PositivePoints points(9, 4);
  const Tensor<double> x = read_samples<double>(points.view(), {1, 1, 4});
  const auto architecture =
      Architecture::make(Network::parse("dense relu dense(b_std=1) erf dense"), {1, 1, 4}, {.hidden = 7});
  const Parameters<double> alive = draw_parameters<double>(architecture, 1);
  EXPECT_EQ(dead_layer(architecture, alive, x, all_processors()), "");
  EXPECT_EQ(dead_layer(architecture, closed(architecture), x, all_processors()),
            "all units of layer 2 (relu) are 0 for every sample");
  Parameters<double> saturated = alive;
  for (double& w : saturated.slots[0].w) w = 1e6;  // the erf of the next layer saturates at ±1
  EXPECT_EQ(dead_layer(architecture, saturated, x, all_processors()),
            "layer 4 (erf) gives the same values for every sample");
  Parameters<double> readout = alive;  // an output layer of zeros still has gradients
  std::fill(readout.slots[2].w.begin(), readout.slots[2].w.end(), 0.0);
  EXPECT_EQ(dead_layer(architecture, readout, x, all_processors()), "");
  Tensor<double> equal(5, {1, 1, 4});
  EXPECT_EQ(dead_layer(architecture, closed(architecture), equal, all_processors()), "");
}

TrainedNetwork train_hard(const PositivePoints& points, TrainOptions options) {
  options.width = 4;
  options.loss.kind = LossKind::hinge;
  if (!options.rate) options.rate = 30.0;
  options.steps = 400;
  options.seed = 3;
  return train(Network::parse("dense(b_std=1) relu dense(b_std=1)"), points.data(), options);
}

TEST(DeadNetwork, EndsATraining) {
  const PositivePoints points(20, 3);
  for (const bool centred : {false, true}) {
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const TrainedNetwork dead = train_hard(points, {.centred = centred, .precision = precision});
      EXPECT_EQ(dead.summary.ending, TrainEnding::dead) << dead.summary.message;
      EXPECT_LT(dead.summary.steps, 400);
      EXPECT_NE(dead.summary.message.find("layer 2 (relu)"), std::string::npos) << dead.summary.message;
      EXPECT_NE(dead.summary.message.find("smaller learning rate"), std::string::npos) << dead.summary.message;
    }
  }
  const TrainedNetwork batches = train_hard(points, {.rate = 8.0, .batch = 5});
  EXPECT_EQ(batches.summary.ending, TrainEnding::dead) << batches.summary.message;
}

// A state that a penalty or momentum can leave is checked only at the end.
TEST(DeadNetwork, IsGivenTimeWhereItMayComeBack) {
  const PositivePoints points(20, 3);
  const TrainedNetwork regularised = train_hard(points, {.lambda = 1e-9});
  EXPECT_EQ(regularised.summary.ending, TrainEnding::dead) << regularised.summary.message;
  EXPECT_EQ(regularised.summary.steps, 400);
}

TEST(DeadNetwork, IsNotSeenWhereAConstantIsRightOrNothingWasTrained) {
  PositivePoints points(12, 3);
  const TrainOptions options{.width = 16, .steps = 3};
  // An output layer of zeros: outputs are constant before the first step, but not after it.
  const TrainedNetwork zero = train(Network::parse("dense relu dense(w_std=1e-300)"), points.data(),
                                    {.width = 16, .parameterisation = Parameterisation::standard, .steps = 3});
  EXPECT_EQ(zero.summary.ending, TrainEnding::finished) << zero.summary.message;
  std::fill_n(points.y.data(), 12, 1.0);
  EXPECT_EQ(train(Network::parse("fc:1"), points.data(), options).summary.ending, TrainEnding::finished);
}

TEST(DefaultRate, IsHalfOfTheLargestStableOne) {
  const PositivePoints points(40, 5);
  const auto architecture = Architecture::make(Network::parse("fc:2"), {1, 1, 5}, {.hidden = 64});
  const Parameters<double> w = draw_parameters<double>(architecture, 0);
  const Tensor<double> x = read_samples<double>(points.view(), {1, 1, 5});
  for (const LossKind kind : {LossKind::squared, LossKind::squared_hinge}) {
    const RateProblem problem{.loss = {kind}, .lambda = 0.3};
    EXPECT_DOUBLE_EQ(default_rate(architecture, w, x, problem, all_processors()),
                     *stable_rate(architecture, w, x, problem, all_processors()) / 2);
  }
  const RateProblem logistic{.loss = {LossKind::logistic}, .lambda = 0.3};
  EXPECT_LT(default_rate(architecture, w, x, logistic, all_processors()),
            *stable_rate(architecture, w, x, logistic, all_processors()) / 2);
  // Independently: λ_max of the matrix itself by power iteration, as the largest Rayleigh quotient.
  const Matrix<double> k = empirical_ntk(architecture, w, x, x);
  std::vector<double> v(40, 1.0);
  double largest = 0;
  for (int step = 0; step < 200; ++step) {
    std::vector<double> product(40, 0.0);
    for (Index i = 0; i < 40; ++i) {
      for (Index j = 0; j < 40; ++j) product[usize(i)] += k(i, j) * v[usize(j)];
    }
    largest = std::sqrt(std::inner_product(product.begin(), product.end(), product.begin(), 0.0));
    std::transform(product.begin(), product.end(), v.begin(), [&](double p) { return p / largest; });
  }
  EXPECT_NEAR(default_rate(architecture, w, x, {.loss = {LossKind::hinge}, .lambda = 0.3}, all_processors()),
              1 / (0.3 + 10 * largest), 1e-3 / largest);
  const double batches =
      default_rate(architecture, w, x, {.loss = {LossKind::hinge}, .lambda = 0.3, .batch = 1}, all_processors());
  EXPECT_NEAR(batches, 1 / (0.3 + 2 * 10 * 40 * k(0, 0)), 1e-9);
}

TEST(DefaultRate, IsTakenAndTold) {
  const PositivePoints points(30, 4);
  for (const LossKind kind : {LossKind::squared, LossKind::hinge, LossKind::logistic}) {
    for (const Index batch : {0, 5}) {
      TrainOptions options{.width = 32, .loss = {kind}, .steps = 60, .batch = batch};
      const TrainedNetwork trained = train(Network::parse("fc:2(w_std=1.4142)"), points.data(), options);
      EXPECT_EQ(trained.summary.ending, TrainEnding::finished) << trained.summary.message;
      EXPECT_DOUBLE_EQ(trained.summary.rate,
                       default_rate(Network::parse("fc:2(w_std=1.4142)"), points.data(), options));
      EXPECT_LT(trained.record.loss.back(), trained.record.loss.front());
      options.rate = 1e-4;
      EXPECT_EQ(train(Network::parse("fc:1"), points.data(), options).summary.rate, 1e-4);
    }
  }
}

// 1 − yf of an overflowed f is −∞ or no number, and the hinge loss max(0, 1 − yf) would be 0.
TEST(Divergence, OfOutputsThatOverflowIsNoLossOfZero) {
  const PositivePoints points(6, 3);
  for (const LossKind loss : {LossKind::hinge, LossKind::squared_hinge, LossKind::logistic}) {
    for (const Index batch : {0, 2}) {
      const TrainOptions options{
          .width = 30, .loss = {loss}, .rate = 1e25, .steps = 4, .batch = batch, .precision = Precision::f32};
      const TrainedNetwork trained = train(Network::parse("dense relu dense"), points.data(), options);
      EXPECT_EQ(trained.summary.ending, TrainEnding::diverged) << to_string(loss);
      EXPECT_EQ(trained.summary.message.find("nan"), std::string::npos) << trained.summary.message;
      for (const double value : trained.record.outputs) EXPECT_TRUE(std::isfinite(value)) << to_string(loss);
    }
  }
}

// Slightly above its stable rate, a quadratic does not grow by a factor of a million in a few steps.
TEST(Divergence, IsToldWhereTheObjectiveEndsAboveItsStart) {
  const PositivePoints points(30, 4);
  const Network network = Network::parse("dense");
  const double stable = 2 * default_rate(network, points.data(), {.width = 8});
  const TrainedNetwork trained = train(network, points.data(), {.width = 8, .rate = 1.2 * stable, .steps = 10});
  EXPECT_EQ(trained.summary.ending, TrainEnding::diverged);
  EXPECT_NE(trained.summary.message.find("objective rose"), std::string::npos) << trained.summary.message;
  EXPECT_EQ(trained.summary.steps, 10);
  EXPECT_EQ(train(network, points.data(), {.width = 8, .rate = 0.9 * stable, .steps = 10}).summary.ending,
            TrainEnding::finished);
}

}  // namespace
}  // namespace widelimit
