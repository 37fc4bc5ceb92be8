#include "widelimit/analysis/dynamics/descend.hpp"

#include "dynamics_fixture.hpp"

#include "widelimit/finite/training/batches.hpp"

namespace widelimit {
namespace {

/// EQ (5) with full matrix products, without optimisations.
Matrix<double> descent_by_definition(const Matrix<double>& k, const Matrix<double>& y, const DescendOptions& options) {
  const Index n = k.rows();
  Matrix<double> alpha(n, y.cols());
  Batches batches(n, options.batch, options.seed);
  const auto width = static_cast<std::size_t>(y.cols());
  for (Index t = 0; t < options.steps; ++t) {
    const double eta = options.schedule == RateSchedule::constant ? options.rate.value()
                                                                  : 1 / (options.lambda * static_cast<double>(t + 1));
    const Matrix<double> g = product_of(k, alpha);
    const std::vector<Index> batch = batches.of(t);
    for (Index i = 0; i < n * y.cols(); ++i) alpha.data()[i] *= 1 - eta * options.lambda;
    for (const Index i : batch) {
      std::vector<double> slope(width);
      loss_slopes(options.loss, {g.view().row(i), width}, {y.view().row(i), width}, slope);
      for (Index j = 0; j < y.cols(); ++j) {
        alpha(i, j) -=
            eta * static_cast<double>(n) / static_cast<double>(batch.size()) * slope[static_cast<std::size_t>(j)];
      }
    }
  }
  return alpha;
}

struct DescentCase {
  LossKind loss;
  Index batch;
  RateSchedule schedule;
  Index outputs;
};
class DescendTest : public testing::TestWithParam<DescentCase> {};

TEST_P(DescendTest, IsTheRecursionOfTheorem32) {
  const auto [loss, batch, schedule, outputs] = GetParam();
  const Index n = 37;
  const Matrix<double> k = random_gram(n, 50);
  Matrix<double> y = random_signs(n, outputs);
  if (loss == LossKind::softmax) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < outputs; ++j) y(i, j) = j == i % outputs ? 1 : 0;
    }
  }
  DescendOptions options{.loss = {.kind = loss}, .lambda = 0.3, .schedule = schedule, .rate = 0.01, .steps = 300};
  options.batch = batch;
  options.seed = 5;
  options.record_every = 70;
  const Trajectory path = descend(k.view(), y.view(), options);
  ASSERT_EQ(path.times, (std::vector<double>{0, 70, 140, 210, 280, 300}));
  EXPECT_LT(largest_difference(path.alpha, descent_by_definition(k, y, options)), 1e-10);
  EXPECT_LT(*path.recursion_error, 1e-11);
  const Matrix<double> g = product_of(k, path.alpha);
  EXPECT_LT(largest_difference(path.train.view().row(5), g.data(), n * outputs), 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Cases, DescendTest,
                         testing::Values(DescentCase{LossKind::hinge, 0, RateSchedule::constant, 1},
                                         DescentCase{LossKind::hinge, 0, RateSchedule::constant, 3},
                                         DescentCase{LossKind::hinge, 8, RateSchedule::pegasos, 1},
                                         DescentCase{LossKind::squared, 0, RateSchedule::constant, 2},
                                         DescentCase{LossKind::squared, 37, RateSchedule::constant, 1},
                                         DescentCase{LossKind::squared_hinge, 5, RateSchedule::constant, 2},
                                         DescentCase{LossKind::insensitive, 1, RateSchedule::constant, 1},
                                         DescentCase{LossKind::logistic, 0, RateSchedule::constant, 1},
                                         DescentCase{LossKind::softmax, 7, RateSchedule::constant, 3}));

class StableStep : public testing::TestWithParam<LossKind> {};

/// For steps slightly below 2/M every loss stays bounded; the squared loss, whose curvature is M everywhere, diverges
/// slightly above.
TEST_P(StableStep, DividesWhatFallsFromWhatGrows) {
  const Matrix<double> k = random_gram(37, 20);
  const Matrix<double> y = random_signs(37, 1);
  DescendOptions options{.loss = {.kind = GetParam()}, .lambda = 0.1, .rate = 1e-6, .steps = 0};
  const double largest = *descend(k.view(), y.view(), options).stable_step;
  options.steps = 5000;
  options.record_every = 100;
  options.rate = 0.99 * largest;
  const Trajectory stable = descend(k.view(), y.view(), options);
  EXPECT_TRUE(stable.summary.converged());
  EXPECT_TRUE(stable.summary.message.empty());
  ASSERT_TRUE(stable.rate.holds.has_value()) << stable.rate.note;
  EXPECT_TRUE(*stable.rate.holds);
  options.rate = largest / 2;
  EXPECT_TRUE(*descend(k.view(), y.view(), options).rate.holds);
  if (GetParam() != LossKind::squared) return;
  options.rate = 1.1 * largest;
  const Trajectory wild = descend(k.view(), y.view(), options);
  EXPECT_EQ(wild.summary.ending, Ending::diverged);
  EXPECT_NE(wild.summary.message.find("stable"), std::string::npos);
  EXPECT_LT(wild.times.back(), 5000);
  EXPECT_TRUE(std::isfinite(wild.objective.back()));
}

INSTANTIATE_TEST_SUITE_P(Losses, StableStep,
                         testing::Values(LossKind::squared, LossKind::squared_hinge, LossKind::logistic));

TEST(Descend, PegasosApproachesTheMachine) {
  const Matrix<double> k = random_gram(37, 60);
  const Matrix<double> y = random_signs(37, 1);
  FlowOptions exact;
  exact.loss.kind = LossKind::hinge;
  exact.times = {infinite_time};
  const double optimum = flow(k.view(), y.view(), exact).objective.back();
  DescendOptions options{.loss = {.kind = LossKind::hinge}, .schedule = RateSchedule::pegasos, .steps = 20000};
  options.batch = 4;
  options.record_every = 20000;
  const Trajectory path = descend(k.view(), y.view(), options);
  // L − L* ≤ G²(1 + log T)/(2λT), G a bound on the subgradient norm: at most n·√K_ii + λ‖β‖, about 2n.
  EXPECT_GE(path.objective.back(), optimum - 1e-9);
  EXPECT_LT(path.objective.back() - optimum, 4 * 37 * 37 * (1 + std::log(20000.0)) / (2 * 20000));
}

TEST(Descend, CarriesAStart) {
  const Matrix<double> k = random_gram(5, 9);
  const Matrix<double> y = random_signs(5, 1);
  const Matrix<double> h = random_numbers(5, 1);
  DescendOptions options{.loss = {.kind = LossKind::hinge}, .lambda = 0.5, .rate = 0.1, .steps = 1};
  options.start.offset = h.view();
  const Trajectory path = descend(k.view(), y.view(), options);
  for (Index i = 0; i < 5; ++i) {
    double expected = 0.95 * h(i, 0);
    for (Index j = 0; j < 5; ++j) expected += y(j, 0) * h(j, 0) < 1 ? 0.1 * y(j, 0) * k(i, j) : 0.0;
    EXPECT_NEAR(path.train(0, i), h(i, 0), 0);
    EXPECT_NEAR(path.train(1, i), expected, 1e-14);
  }
}

TEST(Descend, RefusesWhatItCannotTake) {
  const Matrix<double> k = random_gram(4, 4);
  const Matrix<double> y = random_signs(4, 1);
  const auto refused = [&](const DescendOptions& options) {
    return code_of_error([&] { (void)descend(k.view(), y.view(), options); });
  };
  const DescendOptions good{.loss = {.kind = LossKind::hinge}, .steps = 3};
  EXPECT_EQ(refused(good), Code{});
  for (const double rate : {0.0, -1.0, std::nan(""), infinite_time}) {
    DescendOptions bad = good;
    bad.rate = rate;
    EXPECT_EQ(refused(bad), Code::input);
  }
  DescendOptions bad = good;
  bad.lambda = 0;
  bad.schedule = RateSchedule::pegasos;
  EXPECT_EQ(refused(bad), Code::usage);
  bad = good;
  bad.batch = 5;
  EXPECT_EQ(refused(bad), Code::usage);
  bad = good;
  bad.steps = -1;
  EXPECT_EQ(refused(bad), Code::input);
  bad = good;
  bad.record_every = 0;
  EXPECT_EQ(refused(bad), Code::input);
  EXPECT_EQ(parse_schedule("pegasos"), RateSchedule::pegasos);
  EXPECT_THROW((void)parse_schedule("often"), Error);
}

/// Large enough for multithreading, in steps and in time.
TEST(Descend, HasTheSameBitsOnAnyNumberOfThreads) {
  const Index n = 2100;
  const Matrix<double> k = random_gram(n, 2);
  const Matrix<double> y = random_signs(n, 1);
  std::vector<Trajectory> paths;
  for (const int threads : {1, 3}) {
    DescendOptions steps{.loss = {.kind = LossKind::hinge}, .rate = 1e-4, .steps = 6};
    const auto engine = make_engine("cpu", {.threads = threads});
    paths.push_back(descend({k.view(), *engine}, y.view(), steps));
    FlowOptions times;
    times.loss.kind = LossKind::hinge;
    times.times = {1e-4};
    times.check_rate = false;
    paths.push_back(flow({k.view(), *engine}, y.view(), times));
  }
  for (std::size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(largest_difference(paths[p].train, paths[p + 2].train), 0);
    EXPECT_EQ(largest_difference(paths[p].alpha, paths[p + 2].alpha), 0);
  }
}

TEST(Descend, DoesNotBeginOnAnIndefiniteGram) {
  Matrix<double> k = random_gram(9, 4);
  for (Index i = 0; i < 9; ++i) k(i, i) -= 0.5;
  const Matrix<double> y = random_signs(9, 1);
  for (const LossKind kind : {LossKind::hinge, LossKind::squared, LossKind::logistic}) {
    DescendOptions options{.loss = {.kind = kind}, .rate = 0.01, .steps = 5};
    const Trajectory path = descend(k.view(), y.view(), options);
    EXPECT_EQ(path.summary.ending, Ending::not_positive_definite);
    EXPECT_TRUE(path.times.empty());
    EXPECT_NE(path.summary.message.find("to its diagonal"), std::string::npos) << path.summary.message;
    options.check_definite = false;
    EXPECT_EQ(descend(k.view(), y.view(), options).times.size(), 6U);
  }
}

TEST(Descend, StopsWhenAsked) {
  const Matrix<double> k = random_gram(37, 50);
  const Matrix<double> y = random_signs(37, 1);
  StopProgress progress(1);
  DescendOptions options{.loss = {.kind = LossKind::hinge}, .steps = 100};
  options.progress = &progress;
  EXPECT_EQ(code_of_error([&] { (void)descend(k.view(), y.view(), options); }), Code::interrupted);
}

}  // namespace
}  // namespace widelimit
