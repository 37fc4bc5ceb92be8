#include "dynamics_fixture.hpp"

#include "widelimit/machine/logistic/logistic.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

namespace widelimit {
namespace {

FlowOptions options_of(LossKind kind, double lambda, std::vector<double> times) {
  FlowOptions options;
  options.loss.kind = kind;
  options.lambda = lambda;
  options.times = std::move(times);
  return options;
}

/// One-hot rows of `classes` columns.
Matrix<double> one_hot(Index n, Index classes) {
  Matrix<double> y(n, classes);
  for (Index i = 0; i < n; ++i) y(i, (i * i + i / 3) % classes) = 1;
  return y;
}

class SquaredFlowTest : public testing::TestWithParam<Index> {};

TEST_P(SquaredFlowTest, EndsAtTheRidgeMachine) {
  const Index n = GetParam();
  const Matrix<double> k = random_gram(n, n / 2 + 1);
  const Matrix<double> y = random_numbers(n, 3);
  for (const double lambda : {1e-6, 0.1, 1e3}) {
    const Fit ridge = fit_ridge(k.view(), y.view(), {.lambda = lambda});
    const Trajectory limit = flow(k.view(), y.view(), options_of(LossKind::squared, lambda, {infinite_time}));
    ASSERT_TRUE(limit.summary.converged());
    // Condition numbers up to 1e7 at the smallest λ.
    EXPECT_LT(largest_difference(product_of(k, limit.alpha), product_of(k, ridge.alpha)), 1e-8) << lambda;
    EXPECT_NEAR(limit.objective[0], *ridge.summary.primal, 1e-9 * (1 + *ridge.summary.primal));
  }
}

/// The closed form and Runge–Kutta are independent implementations.
TEST_P(SquaredFlowTest, AgreesWithRungeKutta) {
  const Index n = GetParam();
  const Matrix<double> k = random_gram(n, n + 3);
  const Matrix<double> test = random_gram(n, 2, 5);
  const Matrix<double> y = random_numbers(n, 2);
  const Matrix<double> offset = random_numbers(n, 2, 21);
  const Matrix<double> alpha = random_numbers(n, 2, 22);
  for (const double lambda : {0.0, 0.3}) {
    FlowOptions options = options_of(LossKind::squared, lambda, {0, 0.01, 0.5, 0.5, 4});
    options.record.test = test.view();
    options.start = {.alpha = alpha.view(), .offset = offset.view(), .test_offset = offset.view()};
    const Trajectory exact = flow(k.view(), y.view(), options);
    options.method = FlowMethod::runge_kutta;
    const Trajectory stepped = flow(k.view(), y.view(), options);
    ASSERT_EQ(exact.times, options.times);
    ASSERT_EQ(stepped.times, options.times);
    EXPECT_LT(largest_difference(exact.train, stepped.train), 1e-6);
    EXPECT_LT(largest_difference(exact.test, stepped.test), 1e-6);
    EXPECT_LT(largest_difference(exact.alpha, stepped.alpha), 1e-6);
    EXPECT_TRUE(exact.rate.holds.value_or(false));
    EXPECT_TRUE(stepped.rate.holds.value_or(false));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SquaredFlowTest, testing::Values(1, 2, 37));

/// NT-L: u(t) − y = e^{−tH}(u(0) − y) with H = 2K, since the loss has no factor ½; a diagonal K decouples the modes.
TEST(SquaredFlow, FollowsEachModeAtItsOwnRate) {
  Matrix<double> k(2, 2);
  k(0, 0) = 3;
  k(1, 1) = 0.25;
  Matrix<double> y(2, 1);
  y(0, 0) = 1;
  y(1, 0) = -2;
  const Trajectory path = flow(k.view(), y.view(), options_of(LossKind::squared, 0, {0.7}));
  EXPECT_NEAR(path.train(0, 0), 1 - std::exp(-2 * 3 * 0.7), 1e-14);
  EXPECT_NEAR(path.train(0, 1), -2 * (1 - std::exp(-2 * 0.25 * 0.7)), 1e-14);
}

TEST(SquaredFlow, InterpolatesAtTheEndWithoutRidgeAndIgnoresTheNullSpace) {
  const Matrix<double> k = random_gram(12, 5);
  Matrix<double> y = product_of(k, random_numbers(12, 1));
  FlowOptions options = options_of(LossKind::squared, 0, {infinite_time});
  const Trajectory path = flow(k.view(), y.view(), options);
  EXPECT_LT(largest_difference(path.train.data(), y.data(), 12), 1e-10);
  // Rank one: eigenvalues at rounding level must not be learned.
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Index n = 2 + static_cast<Index>(seed % 5);
    const Matrix<double> thin = random_gram(n, 1, seed);
    const Matrix<double> targets = random_signs(n, 1, seed);
    const Trajectory end = flow(thin.view(), targets.view(), options);
    EXPECT_LT(largest_difference(end.train.data(), product_of(thin, end.alpha).data(), n), 1e-12) << seed;
  }
  const Matrix<double> nothing(3, 3);
  const Matrix<double> ones = random_signs(3, 1);
  const Trajectory still = flow(nothing.view(), ones.view(), options);
  EXPECT_EQ(still.train(0, 0), 0);
  EXPECT_NEAR(still.objective[0], 3, 1e-15);
}

TEST(SquaredFlow, SaysThatAGramIsIndefinite) {
  Matrix<double> k(2, 2);
  k(0, 1) = k(1, 0) = 1;
  const Matrix<double> y = random_signs(2, 1);
  const Trajectory path = flow(k.view(), y.view(), options_of(LossKind::squared, 0.1, {1, 1e6}));
  EXPECT_EQ(path.summary.ending, Ending::not_positive_definite);
  EXPECT_EQ(path.times.size(), 1U);  // at the second time outputs exceed float64
  EXPECT_NE(path.summary.message.find("diagonal"), std::string::npos);
}

/// Hinge and Runge–Kutta flows, bounded by λ, do not diverge on such a matrix; they must be rejected in advance.
TEST(Flow, DoesNotBeginOnAnIndefiniteGram) {
  Matrix<double> k = random_gram(9, 4);
  for (Index i = 0; i < 9; ++i) k(i, i) -= 0.5;
  for (const LossKind kind :
       {LossKind::hinge, LossKind::insensitive, LossKind::squared_hinge, LossKind::logistic, LossKind::softmax}) {
    const Matrix<double> y = kind == LossKind::softmax ? one_hot(9, 3) : random_signs(9, 1);
    FlowOptions options = options_of(kind, 0.1, {0, 1});
    const Trajectory path = flow(k.view(), y.view(), options);
    EXPECT_EQ(path.summary.ending, Ending::not_positive_definite);
    EXPECT_TRUE(path.times.empty());
    EXPECT_EQ(path.train.rows(), 0);
    EXPECT_NE(path.summary.message.find("to its diagonal"), std::string::npos) << path.summary.message;
  }
  FlowOptions stepped = options_of(LossKind::squared, 0.1, {1});
  stepped.method = FlowMethod::runge_kutta;
  const Matrix<double> y = random_signs(9, 1);
  EXPECT_EQ(flow(k.view(), y.view(), stepped).summary.ending, Ending::not_positive_definite);
  stepped.check_definite = false;
  EXPECT_EQ(flow(k.view(), y.view(), stepped).times.size(), 1U);
}

class SmoothFlowTest : public testing::TestWithParam<LossKind> {};

/// Late times agree with the machine solver; L(β_t) − L(β*) decreases at least as e^{−2λt}.
TEST_P(SmoothFlowTest, EndsAtItsMachineAtTheRateOfTheorem31) {
  const LossKind kind = GetParam();
  const Index n = 37;
  const Matrix<double> k = random_gram(n, 20);
  const Matrix<double> y = kind == LossKind::softmax ? one_hot(n, 3) : random_signs(n, 2);
  const double lambda = 0.5;
  std::vector<double> times;
  for (int t = 0; t <= 80; ++t) times.push_back(0.5 * t);
  times.push_back(infinite_time);
  const Trajectory path = flow(k.view(), y.view(), options_of(kind, lambda, times));
  ASSERT_TRUE(path.summary.converged()) << path.summary.message;
  const Index last = std::ssize(times) - 1;
  EXPECT_LT(largest_difference(path.train.view().row(last), path.train.view().row(last - 1), path.train.cols()), 2e-5);
  EXPECT_NEAR(path.objective[80], path.objective[81], 1e-7);
  ASSERT_TRUE(path.rate.holds.has_value());
  EXPECT_TRUE(*path.rate.holds);
  EXPECT_LE(*path.rate.largest_ratio, 1 + 1e-6);
  EXPECT_GT(*path.rate.largest_ratio, 0);
}

INSTANTIATE_TEST_SUITE_P(Losses, SmoothFlowTest,
                         testing::Values(LossKind::squared_hinge, LossKind::logistic, LossKind::softmax));

/// One sample, logistic: ż = K σ(−z) without λ, so z + e^z = Kt + 1.
TEST(SmoothFlow, FollowsOneSampleAsByHand) {
  Matrix<double> k(1, 1);
  k(0, 0) = 2;
  Matrix<double> y(1, 1);
  y(0, 0) = 1;
  const Trajectory path = flow(k.view(), y.view(), options_of(LossKind::logistic, 0, {0.25, 3}));
  for (std::size_t t = 0; t < 2; ++t) {
    const double z = path.train(static_cast<Index>(t), 0);
    EXPECT_NEAR(z + std::exp(z), 2 * path.times[t] + 1, 1e-7);
  }
  EXPECT_TRUE(*path.rate.holds);
}

TEST(SmoothFlow, SaysWhereItCouldNotGetTo) {
  const Matrix<double> k = random_gram(4, 4);
  const Matrix<double> y = random_signs(4, 1);
  FlowOptions options = options_of(LossKind::logistic, 0.1, {0.001, 1e5});
  options.most_steps = 10;
  const Trajectory path = flow(k.view(), y.view(), options);
  EXPECT_EQ(path.summary.ending, Ending::iteration_limit);
  EXPECT_EQ(path.times.size(), 1U);
  const Trajectory endless = flow(k.view(), y.view(), options_of(LossKind::logistic, 0, {infinite_time}));
  EXPECT_EQ(endless.summary.ending, Ending::iteration_limit);
}

TEST(Flow, RefusesWhatItCannotTake) {
  const Matrix<double> k = random_gram(4, 4);
  const Matrix<double> y = random_signs(4, 1);
  const Matrix<double> numbers = random_numbers(4, 1);
  const Matrix<double> none(0, 0);
  const Matrix<double> short_by_one = random_signs(3, 1);
  const auto refused = [&](const Matrix<double>& gram, const Matrix<double>& targets, const FlowOptions& options) {
    return code_of_error([&] { (void)flow(gram.view(), targets.view(), options); });
  };
  const FlowOptions good = options_of(LossKind::hinge, 0.1, {1});
  EXPECT_EQ(refused(k, y, good), Code{});
  EXPECT_EQ(refused(none, y, good), Code::input);
  EXPECT_EQ(refused(k, short_by_one, good), Code::input);
  EXPECT_EQ(refused(k, numbers, good), Code::input);
  EXPECT_EQ(refused(k, numbers, options_of(LossKind::softmax, 0.1, {1})), Code::input);
  EXPECT_EQ(refused(k, y, options_of(LossKind::hinge, -1, {1})), Code::input);
  EXPECT_EQ(refused(k, y, options_of(LossKind::hinge, std::nan(""), {1})), Code::input);
  for (const auto& times : std::vector<std::vector<double>>{{}, {-1}, {2, 1}, {std::nan("")}, {1, std::nan("")}}) {
    EXPECT_EQ(refused(k, y, options_of(LossKind::hinge, 0.1, times)), Code::input);
  }
  FlowOptions bad = good;
  bad.method = FlowMethod::runge_kutta;
  EXPECT_EQ(refused(k, y, bad), Code::usage);
  bad = good;
  bad.record.samples = {0, 4};
  EXPECT_EQ(refused(k, y, bad), Code::input);
  bad = good;
  bad.record.test = numbers.view();
  EXPECT_EQ(refused(k, y, bad), Code::input);
  bad = good;
  bad.start.alpha = short_by_one.view();
  EXPECT_EQ(refused(k, y, bad), Code::input);
}

TEST(Flow, KeepsWhatItWasAskedToKeep) {
  const Matrix<double> k = random_gram(5, 7);
  const Matrix<double> y = random_signs(5, 2);
  FlowOptions options = options_of(LossKind::hinge, 0.2, {0.5, 1});
  const Trajectory all = flow(k.view(), y.view(), options);
  options.record.samples = {4, 1};
  options.record.coefficients = true;
  const Trajectory some = flow(k.view(), y.view(), options);
  ASSERT_EQ(some.train.cols(), 4);
  EXPECT_EQ(some.train(1, 0), all.train(1, 8));
  EXPECT_EQ(some.train(1, 3), all.train(1, 3));
  ASSERT_EQ(some.coefficients.cols(), 10);
  EXPECT_EQ(largest_difference(some.coefficients.view().row(1), all.alpha.data(), 10), 0);
}

TEST(Flow, StopsWhenAsked) {
  const Matrix<double> k = random_gram(37, 50);
  const Matrix<double> y = random_signs(37, 1);
  for (const LossKind kind : {LossKind::squared, LossKind::hinge, LossKind::logistic}) {
    StopProgress progress(1);
    FlowOptions options = options_of(kind, 0.1, {1, 2, 3});
    options.progress = &progress;
    EXPECT_EQ(code_of_error([&] { (void)flow(k.view(), y.view(), options); }), Code::interrupted);
  }
}

}  // namespace
}  // namespace widelimit
