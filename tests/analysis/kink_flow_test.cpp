#include "dynamics_fixture.hpp"

#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/machine/svm/svm.hpp"
#include "widelimit/machine/svm/svr.hpp"

namespace widelimit {
namespace {

FlowOptions hinge_options(double lambda, std::vector<double> times) {
  FlowOptions options;
  options.loss.kind = LossKind::hinge;
  options.lambda = lambda;
  options.times = std::move(times);
  return options;
}

std::span<const double> as_span(const Matrix<double>& y) { return {y.data(), static_cast<std::size_t>(y.rows())}; }

/// K of n samples whose second half repeats the first.
Matrix<double> doubled(const Matrix<double>& half) {
  const Index n = half.rows();
  Matrix<double> k(2 * n, 2 * n);
  for (Index i = 0; i < 2 * n; ++i) {
    for (Index j = 0; j < 2 * n; ++j) k(i, j) = half(i % n, j % n);
  }
  return k;
}

struct LimitCase {
  Index n;
  Index rank;
  double lambda;
};
class HingeLimit : public testing::TestWithParam<LimitCase> {};

TEST_P(HingeLimit, IsTheSupportVectorMachine) {
  const auto [n, rank, lambda] = GetParam();
  const Matrix<double> k = random_gram(n, rank);
  const Matrix<double> y = random_signs(n, 1);
  const Trajectory path = flow(k.view(), y.view(), hinge_options(lambda, {0, 0.1 / lambda, 1 / lambda, infinite_time}));
  ASSERT_TRUE(path.summary.converged()) << path.summary.message;
  ASSERT_EQ(path.times.size(), 4U);
  const Fit svm = fit_svm(k.view(), as_span(y), {.lambda = lambda, .weights = {}, .tolerance = 1e-11});
  const double scale = 1 + *svm.summary.primal;
  EXPECT_NEAR(path.objective.back(), *svm.summary.primal, 1e-9 * scale);
  // Strong convexity: λ/2‖β − β*‖² ≤ L − L*, and |g − g*| ≤ ‖β − β*‖ √K_ii; the solver's gap is 1e-11.
  const Matrix<double> g = product_of(k, svm.alpha);
  const double reach = std::sqrt(2 * 1e-10 * scale / lambda) * 3;
  EXPECT_LT(largest_difference(path.train.view().row(3), g.data(), n), 1e-9 + reach);
  if (rank >= n) {
    EXPECT_LT(largest_difference(path.alpha, svm.alpha), (1e-6 + reach) * (1 + 1 / lambda));
  }
  for (Index i = 0; i < n; ++i) {
    EXPECT_GE(path.alpha(i, 0) * y(i, 0), -1e-12 / lambda);
    EXPECT_LE(path.alpha(i, 0) * y(i, 0), (1 + 1e-12) / lambda);
  }
  ASSERT_TRUE(path.rate.holds.has_value());
  EXPECT_TRUE(*path.rate.holds);
}

INSTANTIATE_TEST_SUITE_P(Cases, HingeLimit,
                         testing::Values(LimitCase{2, 3, 0.1}, LimitCase{37, 60, 1e-3}, LimitCase{37, 60, 0.1},
                                         LimitCase{37, 60, 1}, LimitCase{37, 60, 1e3}, LimitCase{37, 4, 0.05},
                                         LimitCase{100, 130, 0.01}, LimitCase{100, 10, 0.3}, LimitCase{37, 60, 1e-6}));

/// One sample: g increases as K(1 − e^{−λt})/λ up to the margin, if K/λ > 1, and slides there with the multiplier λ/K.
TEST(KinkFlow, FollowsOneSampleAsByHand) {
  Matrix<double> k(1, 1);
  k(0, 0) = 2;
  Matrix<double> y(1, 1);
  y(0, 0) = -1;
  const double lambda = 0.5;
  const double kink_time = -std::log1p(-lambda / 2) / lambda;
  const Trajectory path =
      flow(k.view(), y.view(), hinge_options(lambda, {0.1, kink_time * 0.999, kink_time * 1.001, infinite_time}));
  EXPECT_NEAR(path.train(0, 0), -2 * -std::expm1(-lambda * 0.1) / lambda, 1e-15);
  EXPECT_GT(path.train(1, 0), -1);
  EXPECT_EQ(path.train(2, 0), -1);
  EXPECT_EQ(path.train(3, 0), -1);
  EXPECT_NEAR(path.alpha(0, 0), -0.5, 1e-15);
  ASSERT_EQ(path.event_count, 1);
  EXPECT_NEAR(path.events[0].time, kink_time, 1e-14);
  EXPECT_EQ(path.events[0].meeting, KinkBehaviour::slides);
}

/// At λ = 0 pieces are linear, and all separable samples end with a margin of at least 1.
TEST(KinkFlow, HasStraightPiecesWithoutLambda) {
  const Matrix<double> k = random_gram(37, 80);
  const Matrix<double> y = random_signs(37, 1);
  FlowOptions options = hinge_options(0, {1e-4, 2e-4, infinite_time});
  const Trajectory path = flow(k.view(), y.view(), options);
  ASSERT_TRUE(path.summary.converged());
  for (Index i = 0; i < 37; ++i) {
    EXPECT_NEAR(path.train(1, i), 2 * path.train(0, i), 1e-15);
    EXPECT_GE(path.train(2, i) * y(i, 0), 1 - 1e-9);
  }
  EXPECT_LT(path.objective[2], 1e-8);
  EXPECT_TRUE(*path.rate.holds);
}

/// The Euler method has first order: a quarter of the step gives a quarter of the distance. The side of a kink on which
/// a step ends changes single outputs by η·K_ii, so distances are averaged over outputs and times.
class HingeAgainstSteps : public testing::TestWithParam<LossKind> {};

TEST_P(HingeAgainstSteps, TinyStepsApproachTheFlowInFirstOrder) {
  const Index n = 24;
  const Matrix<double> k = random_gram(n, 30);
  const Matrix<double> test = random_gram(n, 3, 8);
  const Matrix<double> y = GetParam() == LossKind::hinge ? random_signs(n, 1) : random_numbers(n, 1);
  const double lambda = 0.2;
  const double until = 3;
  FlowOptions options = hinge_options(lambda, {});
  for (int t = 0; t <= 50; ++t) options.times.push_back(until * t / 50);
  options.loss.kind = GetParam();
  options.record.test = test.view();
  const Trajectory exact = flow(k.view(), y.view(), options);
  EXPECT_GT(exact.event_count, n / 3);
  std::vector<double> distance;
  for (const Index steps : {2000, 8000, 32000}) {
    DescendOptions how{.loss = {.kind = GetParam()}, .lambda = lambda};
    how.rate = until / static_cast<double>(steps);
    how.steps = steps;
    how.record_every = steps / 50;
    how.record.test = test.view();
    const Trajectory stepped = descend(k.view(), y.view(), how);
    ASSERT_EQ(stepped.times.size(), exact.times.size());
    double sum = 0;
    for (Index i = 0; i < 51 * n; ++i) {
      sum += std::abs(exact.train.data()[i] - stepped.train.data()[i]);
      sum += std::abs(exact.test.data()[i] - stepped.test.data()[i]);
    }
    distance.push_back(sum / static_cast<double>(2 * 51 * n));
  }
  EXPECT_NEAR(std::log(distance[0] / distance[2]) / std::log(16.0), 1, 0.15) << distance[0] << ' ' << distance[2];
  EXPECT_LT(distance[2], 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Losses, HingeAgainstSteps, testing::Values(LossKind::hinge, LossKind::insensitive));

TEST(KinkFlow, InsensitiveLossEndsAtSupportVectorRegression) {
  const Index n = 37;
  for (const double epsilon : {0.0, 0.1, 5.0}) {
    const Matrix<double> k = random_gram(n, 50);
    const Matrix<double> y = random_numbers(n, 2);
    FlowOptions options = hinge_options(0.3, {0.5, infinite_time});
    options.loss = {.kind = LossKind::insensitive, .epsilon = epsilon};
    const Trajectory path = flow(k.view(), y.view(), options);
    ASSERT_TRUE(path.summary.converged()) << path.summary.message;
    const Fit svr = fit_svr(k.view(), y.view(), {.lambda = 0.3, .epsilon = epsilon, .weights = {}, .tolerance = 1e-11});
    EXPECT_NEAR(path.objective.back(), *svr.summary.primal, 1e-8 * (1 + *svr.summary.primal));
    EXPECT_LT(largest_difference(path.alpha, svr.alpha), 1e-4);
    EXPECT_TRUE(*path.rate.holds);
  }
}

TEST(KinkFlow, TakesIdenticalRows) {
  const Index n = 20;
  const Matrix<double> half = random_gram(n, 25);
  const Matrix<double> k = doubled(half);
  const Matrix<double> y = random_signs(n, 1);
  Matrix<double> same(2 * n, 1);
  Matrix<double> opposite(2 * n, 1);
  for (Index i = 0; i < 2 * n; ++i) {
    same(i, 0) = y(i % n, 0);
    opposite(i, 0) = i < n ? y(i, 0) : -y(i - n, 0);
  }
  // Duplicated samples at λ and time t are equivalent to single samples at λ/2 and time 2t.
  const Trajectory twice = flow(k.view(), same.view(), hinge_options(0.2, {0.5, infinite_time}));
  const Trajectory once = flow(half.view(), y.view(), hinge_options(0.1, {1, infinite_time}));
  ASSERT_TRUE(twice.summary.converged()) << twice.summary.message;
  EXPECT_LT(largest_difference(twice.train.view().row(0), once.train.view().row(0), n), 1e-11);
  EXPECT_LT(largest_difference(twice.train.view().row(1), once.train.view().row(1), n), 1e-11);
  // Each sample has a duplicate with the opposite label: 0 is optimal.
  const Trajectory contradictory = flow(k.view(), opposite.view(), hinge_options(0.2, {1, infinite_time}));
  ASSERT_TRUE(contradictory.summary.converged()) << contradictory.summary.message;
  EXPECT_NEAR(contradictory.objective.back(), static_cast<double>(2 * n), 1e-10);
}

TEST(KinkFlow, TakesAZeroGramAndAStartOnTheMargin) {
  const Matrix<double> nothing(3, 3);
  const Matrix<double> y = random_signs(3, 1);
  const Trajectory still = flow(nothing.view(), y.view(), hinge_options(0.5, {1, infinite_time}));
  EXPECT_EQ(still.event_count, 0);
  EXPECT_NEAR(still.alpha(0, 0), 2, 1e-14);
  EXPECT_NEAR(still.objective.back(), 3, 1e-14);

  const Matrix<double> k = random_gram(37, 50);
  const Matrix<double> labels = random_signs(37, 1);
  const double lambda = 0.05;
  const Trajectory whole = flow(k.view(), labels.view(), hinge_options(lambda, {8, 20, infinite_time}));
  FlowOptions rest = hinge_options(lambda, {0, 12, infinite_time});
  const Trajectory first = flow(k.view(), labels.view(), hinge_options(lambda, {8}));
  rest.start.alpha = first.alpha.view();
  const Trajectory second = flow(k.view(), labels.view(), rest);
  EXPECT_LT(largest_difference(whole.train, second.train), 1e-9);
}

TEST(KinkFlow, DoesNotKnowTheOrderOfSamples) {
  const Index n = 37;
  const Matrix<double> k = random_gram(n, 10);
  const Matrix<double> y = random_signs(n, 1);
  Matrix<double> turned(n, n);
  Matrix<double> labels(n, 1);
  const auto to = [&](Index i) { return (i * 5 + 3) % n; };
  for (Index i = 0; i < n; ++i) {
    labels(to(i), 0) = y(i, 0);
    for (Index j = 0; j < n; ++j) turned(to(i), to(j)) = k(i, j);
  }
  const Trajectory a = flow(k.view(), y.view(), hinge_options(0.1, {0.3, 2, 30}));
  const Trajectory b = flow(turned.view(), labels.view(), hinge_options(0.1, {0.3, 2, 30}));
  for (Index t = 0; t < 3; ++t) {
    for (Index i = 0; i < n; ++i) EXPECT_NEAR(a.train(t, i), b.train(t, to(i)), 1e-10);
  }
}

/// An initial function outside the span decays as e^{−λt}; the arrival time at the margin has a closed form.
TEST(KinkFlow, CarriesAStartOutsideTheSpan) {
  Matrix<double> k(1, 1);
  k(0, 0) = 1;
  Matrix<double> y(1, 1);
  y(0, 0) = 1;
  Matrix<double> h(1, 1);
  h(0, 0) = -3;
  FlowOptions options = hinge_options(0.5, {0.2, 50});
  options.start.offset = h.view();
  options.record.test = k.view();
  options.start.test_offset = h.view();
  const Trajectory path = flow(k.view(), y.view(), options);
  EXPECT_NEAR(path.train(0, 0), -3 * std::exp(-0.1) + -std::expm1(-0.1) / 0.5, 1e-14);
  EXPECT_NEAR(path.test(0, 0), path.train(0, 0), 1e-14);
  EXPECT_EQ(path.train(1, 0), 1);
  EXPECT_NEAR(path.test(1, 0), 1, 1e-12);
  EXPECT_TRUE(*path.rate.holds);
  EXPECT_FALSE(path.rate.largest_ratio.has_value());
}

TEST(KinkFlow, TakesFloat32) {
  const Matrix<double> k = random_gram(37, 50);
  Matrix<float> rounded(37, 37);
  std::copy_n(k.data(), 37 * 37, rounded.data());
  const Matrix<double> y = random_signs(37, 1);
  const Trajectory a = flow(k.view(), y.view(), hinge_options(0.1, {1, infinite_time}));
  const Trajectory b =
      flow(AnyView(MatrixView<const float>(rounded.view())), y.view(), hinge_options(0.1, {1, infinite_time}));
  EXPECT_LT(largest_difference(a.train, b.train), 1e-4);
}

TEST(KinkFlow, StopsAtTheLimitOfEvents) {
  const Matrix<double> k = random_gram(37, 50);
  const Matrix<double> y = random_signs(37, 1);
  FlowOptions options = hinge_options(0.1, {1e-6, infinite_time});
  options.most_events = 3;
  const Trajectory path = flow(k.view(), y.view(), options);
  EXPECT_EQ(path.summary.ending, Ending::iteration_limit);
  EXPECT_EQ(path.times.size(), 1U);
  EXPECT_EQ(path.event_count, 3);
  EXPECT_NE(path.summary.message.find("3 events"), std::string::npos);
}

}  // namespace
}  // namespace widelimit
