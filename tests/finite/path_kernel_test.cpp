#include "widelimit/finite/tangent/path_kernel.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Training and test samples of three features with targets ±1.
struct PathPoints {
  Matrix<double> x;
  Matrix<double> y;
  Matrix<double> test;

  PathPoints(Index n, Index tested, Index outputs = 1) : x(n, 3), y(n, outputs), test(tested, 3) {
    const Random random(8, 3);
    random.normals(0, n * 3, 1.0, x.data());
    random.normals(5000, tested * 3, 1.0, test.data());
    for (Index i = 0; i < n * outputs; ++i) {
      y.data()[i] = random.uniform(9000 + static_cast<std::uint64_t>(i)) < 0.5 ? -1.0 : 1.0;
    }
  }
  [[nodiscard]] TrainData data() const {
    TrainData given{{x.view(), {1, 1, 3}}, y.view()};
    if (test.rows() > 0) given.test = SampleView{test.view(), {1, 1, 3}};
    return given;
  }
};

TrainOptions path_options(LossKind kind, double rate, Index steps) {
  TrainOptions options;
  options.width = 32;
  options.loss.kind = kind;
  options.regulariser = Regulariser::output;
  options.lambda = 0.5;
  options.rate = rate;
  options.steps = steps;
  return options;
}

Network small_net() { return Network::parse("dense(b_std=0.3) erf dense(b_std=0.3) erf dense(b_std=0.2)"); }

// A function that is linear in its weights has no curvature along the path: the sum is f_T up to rounding, also in
// batches.
TEST(PathKernel, OneLayerIsItsMachineExactly) {
  const PathPoints points(7, 4, 2);
  for (const LossKind kind : {LossKind::squared, LossKind::hinge, LossKind::logistic}) {
    for (const Index batch : {0, 3}) {
      TrainOptions options = path_options(kind, 0.02, 50);
      options.batch = batch;
      const NetAsMachine net = train_as_kernel_machine(Network::parse("dense(b_std=0.5)"), points.data(), options);
      ASSERT_TRUE(net.difference);
      EXPECT_LT(net.difference->largest(), 1e-12) << to_string(kind) << ' ' << batch;
      EXPECT_GT(net.difference->moved, 0.1);
    }
  }
}

// Halving the steps over the same time halves the difference.
TEST(PathKernel, DifferenceIsFirstOrderInTheStep) {
  const PathPoints points(5, 3);
  for (const LossKind kind : {LossKind::squared, LossKind::logistic, LossKind::squared_hinge}) {
    double before = 0;
    for (const Index finer : {1, 2, 4, 8}) {
      const NetAsMachine net = train_as_kernel_machine(
          small_net(), points.data(), path_options(kind, 0.002 / static_cast<double>(finer), 200 * finer));
      ASSERT_TRUE(net.difference && net.difference->test);
      const double now = net.difference->largest();
      EXPECT_LT(now, 0.2 * net.difference->moved);
      // The next order is proportional to the rate: initially 10 %.
      if (finer > 1) {
        EXPECT_NEAR(before / now, 2.0, 0.25) << to_string(kind) << ' ' << finer;
      }
      before = now;
    }
  }
}

// Two steps by hand from the weights passed to the observer.
TEST(PathKernel, FollowsTheRecursion) {
  const PathPoints points(5, 0);
  TrainOptions options = path_options(LossKind::logistic, 0.01, 2);
  Matrix<double> k(5, 5);
  Matrix<double> x(5, 3);
  std::copy_n(points.x.data(), 15, x.data());
  options.observer = [&](const TrainStep& step) {
    const Tensor<double> samples = read_samples<double>({x.view(), {1, 1, 3}}, step.architecture->input);
    const Matrix<double> theta =
        empirical_ntk(*step.architecture, *std::get<const Parameters<double>*>(step.parameters), samples, samples);
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < 5; ++j) k(i, j) = 0.995 * k(i, j) + 0.01 * std::fabs(step.slopes(j, 0)) * theta(i, j);
    }
  };
  const NetAsMachine net = train_as_kernel_machine(small_net(), points.data(), options);
  EXPECT_EQ(net.machine.sign_changes, 0);
  for (Index i = 0; i < 5; ++i) {
    EXPECT_EQ(net.machine.a[static_cast<std::size_t>(i)], points.y(i, 0));  // l' = −y·σ(−yz)
    for (Index j = 0; j < 5; ++j) EXPECT_NEAR(net.machine.k(i, j), k(i, j), 1e-12 * (1 + k(i, j)));
  }
  EXPECT_LT(std::fabs(net.difference->absolute - net.difference->train), 1e-12);
}

// If l' changes sign, EQ's |l'| counts the reversal with the wrong sign; the signed form remains valid.
TEST(PathKernel, SignsThatChangeAreCountedAndFollowed) {
  const PathPoints points(5, 2);
  const NetAsMachine net =
      train_as_kernel_machine(small_net(), points.data(), path_options(LossKind::squared, 0.004, 600));
  ASSERT_TRUE(net.difference);
  EXPECT_GT(net.machine.sign_changes, 0);
  EXPECT_GT(net.difference->absolute, 5 * net.difference->largest());
  EXPECT_LT(net.difference->largest(), 0.2 * net.difference->moved);
}

TEST(PathKernel, ThreadsAndPrecisionDoNotMatter) {
  const PathPoints points(6, 2, 2);
  TrainOptions options = path_options(LossKind::logistic, 0.002, 40);
  const auto run = [&](int threads) {
    return train_as_kernel_machine(small_net(), points.data(), options, *make_engine("cpu", {.threads = threads}));
  };
  const NetAsMachine one = run(1);
  const NetAsMachine three = run(3);
  EXPECT_EQ(one.machine.values, three.machine.values);
  options.precision = Precision::f32;
  const NetAsMachine single = train_as_kernel_machine(small_net(), points.data(), options);
  for (std::size_t i = 0; i < one.machine.values.size(); ++i) {
    EXPECT_NEAR(single.machine.values[i], one.machine.values[i], 1e-4);
  }
}

TEST(PathKernel, RefusesWhatDoesNotDecay) {
  const PathPoints points(5, 1);
  const auto refused = [&](auto change, Code code) {
    TrainOptions options = path_options(LossKind::squared, 0.001, 3);
    change(options);
    try {
      (void)train_as_kernel_machine(small_net(), points.data(), options);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
    }
  };
  refused([](TrainOptions& o) { o.regulariser = Regulariser::init; }, Code::usage);
  refused([](TrainOptions& o) { o.regulariser = Regulariser::weights; }, Code::usage);
  refused([](TrainOptions& o) { o.regulariser = Regulariser::aux; }, Code::usage);
  refused([](TrainOptions& o) { o.optimiser = {.momentum = 0.5}; }, Code::usage);
  refused([](TrainOptions& o) { o.flow_time = 1; }, Code::usage);
  refused([](TrainOptions& o) { o.centred = true; }, Code::usage);
  refused([](TrainOptions& o) { o.linearised = true; }, Code::usage);
  refused([](TrainOptions& o) { o.steps = 0; }, Code::usage);
  refused([](TrainOptions& o) { o.memory = 100; }, Code::resource);
  EXPECT_THROW((void)train_as_kernel_machine(Network::parse("dense relu dropout(rate=0.5) dense"), points.data(),
                                             path_options(LossKind::squared, 0.001, 3)),
               Error);
  TrainOptions free = path_options(LossKind::squared, 0.001, 3);
  free.regulariser = Regulariser::init;
  free.lambda = 0;
  EXPECT_TRUE(train_as_kernel_machine(small_net(), points.data(), free).difference);
}

TEST(PathKernel, ADivergedTrainingHasNoMachine) {
  const PathPoints points(5, 1);
  const NetAsMachine net =
      train_as_kernel_machine(small_net(), points.data(), path_options(LossKind::squared, 10, 2000));
  EXPECT_EQ(net.trained.summary.ending, TrainEnding::diverged);
  EXPECT_FALSE(net.difference);
  EXPECT_TRUE(net.machine.values.empty());
}

}  // namespace
}  // namespace widelimit
