#include "tests/analysis/evolution_fixture.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Training resumed from given weights equals the uninterrupted training bit by bit, with the same batches.
TEST(Branches, GoOnWithTheBatchesOfTheTraining) {
  const ProbedTask task(11);
  const Network network = Network::parse("fc:1");
  TrainOptions options = watched_training().train;
  options.schedule.kind = ScheduleKind::cosine;
  const TrainedNetwork whole = train(network, task.data(), options);
  AnyParameters half;
  options.observer = [&](const TrainStep& step) {
    if (step.step == 5) half = *std::get<const Parameters<double>*>(step.parameters);
  };
  (void)train(network, task.data(), options);
  const std::vector<std::uint64_t> seeds{0, 1};
  const auto children = spawn_children(network, task.data(), options, half, 5, seeds);
  const auto weights = [](const TrainedNetwork& net) {
    return std::get<Parameters<double>>(net.parameters).slots[0].w;
  };
  EXPECT_EQ(weights(children[0]), weights(whole));
  EXPECT_NE(weights(children[1]), weights(whole));
  EXPECT_EQ(children[1].summary.steps, 12);
}

TEST(Branches, RefuseWeightsThatDoNotFit) {
  const ProbedTask task(6);
  const Network network = Network::parse("fc:1");
  const AnyParameters other = Parameters<double>{};
  const AnyParameters single = Parameters<float>{};
  TrainOptions options = watched_training().train;
  const auto refused = [&](const std::function<void(TrainOptions&)>& change) {
    TrainOptions changed = options;
    change(changed);
    return refusal_of([&] { (void)train(network, task.data(), changed); });
  };
  EXPECT_EQ(refused([&](auto& o) { o.initial_step = 3; }), Code::usage);
  EXPECT_EQ(refused([&](auto& o) { o.initial = &other; }), Code::usage);
  EXPECT_EQ(refused([&](auto& o) { o.initial = &single; }), Code::usage);
  options.initial = &other;
  EXPECT_EQ(refused([&](auto& o) { o.initial_step = 13; }), Code::usage);
  EXPECT_EQ(refused([&](auto& o) { o.centred = true; }), Code::usage);
}

/// The closed form against the gradient flow of the linearised network, at a finite time and in the limit.
TEST(TangentTraining, IsTheFlowOfTheLinearisedNetwork) {
  const ProbedTask task(7);
  const ProbedTask test(4);
  const Network network = Network::parse("fc:1(activation=erf, w_std=1.5)");
  TrainData data = task.data();
  data.test = test.view();
  data.test_y = test.y.view();
  TrainOptions options = watched_training().train;
  options.width = 64;
  options.batch = 0;
  const TrainedNetwork start = train(network, data, [&] {
    TrainOptions none = options;
    none.steps = 0;
    return none;
  }());
  options.linearised = true;
  options.flow_time = 0.7;
  options.tolerance = 1e-7;
  options.steps = 100'000;
  const TrainedNetwork flow = train(network, data, options);
  const Matrix<double> expected = predict_outputs(flow, task.view());
  const Matrix<double> expected_test = predict_outputs(flow, test.view());
  const TangentTraining found = tangent_training(start, data, {.time = 0.7});
  for (Index i = 0; i < 21; ++i) EXPECT_NEAR(found.outputs.data()[i], expected.data()[i], 1e-5);
  for (Index i = 0; i < 12; ++i) EXPECT_NEAR(found.test_outputs.data()[i], expected_test.data()[i], 1e-5);
  const TangentTraining end = tangent_training(start, data, {});
  EXPECT_EQ(end.unlearnt, 0);
  EXPECT_LT(end.squared_error, 1e-16);
  EXPECT_EQ(end.accuracy, 1.0);
  EXPECT_TRUE(end.test_accuracy);
  // The trace kernel differs, but also interpolates.
  const TangentTraining trace = tangent_training(start, data, {.samples = 5, .kernel = TangentKernel::trace});
  EXPECT_EQ(trace.outputs.rows(), 5);
  EXPECT_LT(trace.squared_error, 1e-16);
  EXPECT_EQ(refusal_of([&] { (void)tangent_training(start, data, {.time = 0}); }), Code::usage);
  // For one output both kernels are equal.
  const ProbedTask line(7, 5, 1);
  TrainData numbers = line.data();
  numbers.test = test.view();
  TrainOptions none = watched_training().train;
  none.steps = 0;
  const TrainedNetwork single = train(network, numbers, none);
  const TangentTraining one = tangent_training(single, numbers, {.time = 0.3});
  const TangentTraining other = tangent_training(single, numbers, {.time = 0.3, .kernel = TangentKernel::trace});
  for (Index i = 0; i < 4; ++i) EXPECT_NEAR(one.test_outputs(i, 0), other.test_outputs(i, 0), 1e-10);
}

TEST(ErrorBarriers, AreHeightsAboveTheLine) {
  const ProbedTask task(12, 5, 1);
  TrainOptions options = watched_training().train;
  const Network network = Network::parse("fc:1");
  const TrainedNetwork first = train(network, task.data(), options);
  options.seed = 1;
  const TrainedNetwork second = train(network, task.data(), options);
  const ErrorBarrier found = error_barrier(first, second, task.data(), {}, {.points = 3});
  const auto error = [&](const TrainedNetwork& net) {
    const Matrix<double> f = predict_outputs(net, task.view());
    double sum = 0;
    for (Index i = 0; i < 12; ++i) sum += std::pow(f(i, 0) - task.y(i, 0), 2) / 12;
    return sum;
  };
  TrainedNetwork middle = first;
  auto& w = std::get<Parameters<double>>(middle.parameters);
  const auto& other = std::get<Parameters<double>>(second.parameters);
  for (std::size_t l = 0; l < w.slots.size(); ++l) {
    for (std::size_t i = 0; i < w.slots[l].w.size(); ++i) w.slots[l].w[i] = (w.slots[l].w[i] + other.slots[l].w[i]) / 2;
  }
  EXPECT_NEAR(found.train.errors[0], error(second), 1e-12);
  EXPECT_NEAR(found.train.errors[1], error(middle), 1e-12);
  EXPECT_NEAR(found.train.errors[2], error(first), 1e-12);
  const double height = error(middle) - (error(first) + error(second)) / 2;
  EXPECT_NEAR(found.train.barrier, std::max(0.0, height), 1e-12);
  EXPECT_FALSE(found.test);
  // Interpolation of equal weights rounds: errors of about 1 differ by ulps.
  EXPECT_NEAR(error_barrier(first, first, task.data(), {}, {}).train.barrier, 0.0, 1e-15);
}

TEST(Branches, OfCheckpointsThatWereChosen) {
  const ProbedTask task(12);
  EvolutionOptions options = watched_training();
  options.tangent = TangentOptions{.descent = true};
  options.barrier = BarrierOptions{.points = 3};
  options.branch_at = {0, 7};
  TrainData data = task.data();
  data.test = task.view();
  data.test_y = task.y.view();
  const Evolution found = evolution(Network::parse("fc:1"), data, task.probe(), options);
  ASSERT_EQ(found.tangent.size(), 2U);
  ASSERT_EQ(found.barriers.size(), 2U);
  EXPECT_EQ(found.tangent[1].step, 7);
  EXPECT_EQ(found.barriers[1].step, 7);
  EXPECT_TRUE(found.barriers[0].test);
  EXPECT_TRUE(found.tangent[0].descent_test_accuracy);
  // Children that branch later are closer to each other.
  EXPECT_LT(found.barriers[1].apart, found.barriers[0].apart);
}

}  // namespace
}  // namespace widelimit
