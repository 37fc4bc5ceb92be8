#include "widelimit/finite/training/optimiser.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/training/learning_schedule.hpp"
#include "widelimit/finite/training/stable_rate.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/finite/training/weight_step.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

using Real = long double;

/// The optimisers as published, one weight at a time; momentum in the form of torch.optim.SGD, whose buffer is −v/rate
/// for a constant rate.
class Oracle {
 public:
  Oracle(const Optimiser& how, std::size_t size) : how_(how), first_(size), second_(size) {}

  void step(std::vector<Real>& w, const std::vector<Real>& gradient, Real rate) {
    ++steps_;
    const Real decay = how_.weight_decay;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const bool beside = how_.kind == OptimiserKind::adamw;
      const Real g = gradient[i] + (beside ? 0 : decay * w[i]);
      if (beside) w[i] -= rate * decay * w[i];
      if (how_.adaptive()) {
        first_[i] = how_.beta1 * first_[i] + (1 - static_cast<Real>(how_.beta1)) * g;
        second_[i] = how_.beta2 * second_[i] + (1 - static_cast<Real>(how_.beta2)) * g * g;
        const Real mean = first_[i] / (1 - std::pow(static_cast<Real>(how_.beta1), steps_));
        const Real square = second_[i] / (1 - std::pow(static_cast<Real>(how_.beta2), steps_));
        w[i] -= rate * mean / (std::sqrt(square) + how_.epsilon);
      } else {
        first_[i] = how_.momentum * first_[i] + g;
        w[i] -= rate * (how_.kind == OptimiserKind::nesterov ? g + how_.momentum * first_[i] : first_[i]);
      }
    }
  }

 private:
  Optimiser how_;
  Real steps_ = 0;
  std::vector<Real> first_;
  std::vector<Real> second_;
};

std::vector<Optimiser> optimisers() {
  using enum OptimiserKind;
  return {{.kind = sgd},
          {.kind = sgd, .weight_decay = 0.3},
          {.kind = sgd, .momentum = 0.8},
          {.kind = sgd, .momentum = 0.8, .weight_decay = 0.3},
          {.kind = nesterov, .momentum = 0.7},
          {.kind = nesterov, .momentum = 0.7, .weight_decay = 0.3},
          {.kind = adam},
          {.kind = adam, .beta1 = 0.5, .beta2 = 0.9, .epsilon = 1e-3, .weight_decay = 0.3},
          {.kind = adamw, .weight_decay = 0.3}};
}

template <std::floating_point T>
Tensor<T> drawn(Index rows, Index cols, std::uint64_t stream) {
  Tensor<T> tensor(rows, {1, 1, cols});
  Random(17, stream).normals(0, tensor.size(), 1.0, tensor.data());
  return tensor;
}

/// Five steps with varying gradients Σ a dᵀ compared to the oracle; `rows` determines the method of summation.
template <std::floating_point T>
void expect_published_steps(const Optimiser& how, Index rows, double l2, double tolerance) {
  const auto architecture =
      Architecture::make(Network::parse("dense(w_std=1.3, b_std=0.4)"), {1, 1, 7}, {.hidden = 4, .outputs = 3});
  const WeightSlot& slot = architecture.slots[0];
  Parameters<T> w = draw_parameters<T>(architecture, 3);
  const Parameters<T> start = w;
  Parameters<T> velocity = zero_parameters<T>(architecture);
  Parameters<T> squares = zero_parameters<T>(architecture);
  const auto flat = [](const Weights<T>& weights) {
    std::vector<Real> all(weights.w.begin(), weights.w.end());
    all.insert(all.end(), weights.b.begin(), weights.b.end());
    return all;
  };
  std::vector<Real> expected = flat(w.slots[0]);
  const std::vector<Real> anchor = expected;
  Oracle oracle(how, expected.size());
  for (Index k = 0; k < 5; ++k) {
    const auto a = drawn<T>(rows, 7, 2 * static_cast<std::uint64_t>(k));
    const auto d = drawn<T>(rows, 3, 2 * static_cast<std::uint64_t>(k) + 1);
    std::vector<Real> gradient(expected.size());
    for (Index n = 0; n < rows; ++n) {
      for (Index o = 0; o < 3; ++o) {
        for (Index i = 0; i < 7; ++i) {
          gradient[usize(i * 3 + o)] += static_cast<Real>(slot.w_scale) * a.sample(n)[i] * d.sample(n)[o];
        }
        gradient[usize(21 + o)] += static_cast<Real>(slot.b_scale) * d.sample(n)[o];
      }
    }
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += l2 * (expected[i] - anchor[i]);
    oracle.step(expected, gradient, 0.01L);
    step_slot<T>(slot, {&a, &d},
                 {.rate = 0.01,
                  .l2 = l2,
                  .anchor = &start.slots[0],
                  .optimiser = how,
                  .steps = k,
                  .velocity = how.moments() > 0 ? &velocity.slots[0] : nullptr,
                  .squares = how.moments() > 1 ? &squares.slots[0] : nullptr},
                 all_processors(), w.slots[0]);
  }
  const std::vector<Real> reached = flat(w.slots[0]);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(reached[i]), static_cast<double>(expected[i]), tolerance)
        << to_string(how.kind) << " momentum " << how.momentum << " decay " << how.weight_decay << " rows " << rows
        << " weight " << i;
  }
}

// Sums of 8,200 products are of size √8200 ≈ 90 and steps a hundredth of them: errors of 1e-14 in double and 5e-6 in
// float, times a small factor.
TEST(Optimiser, StepsAreThePublishedOnes) {
  for (const Optimiser& how : optimisers()) {
    for (const Index rows : {5, 8200}) {
      for (const double l2 : {0.0, 0.2}) {
        expect_published_steps<double>(how, rows, l2, 1e-12);
        expect_published_steps<float>(how, rows, l2, 1e-4);
      }
    }
  }
}

/// Classes given by the sign of a quadratic.
struct Quadrants {
  Matrix<double> x{30, 5};
  Matrix<double> y{30, 1};
  Quadrants() {
    Random(5).normals(0, 150, 1.0, x.data());
    for (Index i = 0; i < 30; ++i) y(i, 0) = x(i, 0) * x(i, 1) > 0 ? 1 : -1;
  }
  [[nodiscard]] TrainData data() const { return {SampleView(x.view(), {1, 1, 5}), y.view()}; }
};

// A whole training compared to the oracle: one layer, so that gradients are plain sums, with batches and schedule.
TEST(Optimiser, TrainsAlongItsSchedule) {
  const Quadrants points;
  const LearningSchedule schedule{.kind = ScheduleKind::cosine, .warmup = 0.2, .last = 0.1};
  for (const Optimiser& how : optimisers()) {
    if (how.momentum > 0) continue;  // its buffer would contain other rates than the published one
    const TrainOptions options{.loss = {LossKind::logistic},
                               .regulariser = Regulariser::none,
                               .rate = 0.02,
                               .epochs = 4,
                               .batch = 7,
                               .optimiser = how,
                               .schedule = schedule,
                               .seed = 8};
    std::vector<std::vector<Index>> batches;
    std::vector<double> rates;
    TrainOptions observed = options;
    observed.observer = [&](const TrainStep& step) {
      batches.emplace_back(step.batch.begin(), step.batch.end());
      rates.push_back(step.rate);
    };
    const TrainedNetwork trained = train(Network::parse("dense"), points.data(), observed);
    ASSERT_EQ(trained.summary.steps, 16);  // ⌊30/7⌋ batches per epoch
    const auto& start = std::get<Parameters<double>>(trained.start).slots[0].w;
    std::vector<Real> w(start.begin(), start.end());
    Oracle oracle(how, w.size());
    const Real scale = 1 / std::sqrt(5.0L);
    for (std::size_t k = 0; k < 16; ++k) {
      const Real expected_rate =
          0.02L * (k < 4 ? (static_cast<Real>(k) + 1) / 4
                         : 0.1L + 0.45L * (1 + std::cos(std::acos(-1.0L) * static_cast<Real>(k - 4) / 12)));
      ASSERT_NEAR(rates[k], static_cast<double>(expected_rate), 1e-17);
      std::vector<Real> gradient(w.size());
      for (const Index i : batches[k]) {
        Real z = 0;
        for (Index j = 0; j < 5; ++j) z += scale * w[usize(j)] * points.x(i, j);
        const Real slope = -points.y(i, 0) / (1 + std::exp(points.y(i, 0) * z)) * 30 / 7;
        for (Index j = 0; j < 5; ++j) gradient[usize(j)] += scale * slope * points.x(i, j);
      }
      oracle.step(w, gradient, expected_rate);
    }
    const auto& reached = std::get<Parameters<double>>(trained.parameters).slots[0].w;
    for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(reached[i], static_cast<double>(w[i]), 1e-13);
  }
}

// Every optimiser decreases the loss of a deep network with its default rate, on any number of threads.
TEST(Optimiser, TrainsWithoutARate) {
  const Quadrants points;
  for (const auto parameterisation : {Parameterisation::ntk, Parameterisation::standard}) {
    for (const Optimiser& how : optimisers()) {
      if (how.weight_decay > 0) continue;
      const TrainOptions options{.width = 64,
                                 .parameterisation = parameterisation,
                                 .loss = {LossKind::logistic},
                                 .steps = 300,
                                 .optimiser = how,
                                 .precision = Precision::f32};
      const Network network = Network::parse("fc:2(w_std=1.4142, b_std=0.1)");
      const TrainedNetwork one = train(network, points.data(), options, *make_engine("cpu", {.threads = 1}));
      EXPECT_TRUE(one.summary.finished()) << one.summary.message;
      EXPECT_LT(one.record.loss.back(), 0.5 * one.record.loss.front()) << to_string(how.kind);
      const TrainedNetwork three = train(network, points.data(), options, *make_engine("cpu", {.threads = 3}));
      EXPECT_EQ(one.record.outputs, three.record.outputs);
    }
  }
}

TEST(Optimiser, RefusesWhatHasNoMeaning) {
  const auto wrong = [](const TrainOptions& options) { EXPECT_THROW(options.validate(), Error); };
  using enum OptimiserKind;
  wrong({.optimiser = {.kind = nesterov}});
  wrong({.optimiser = {.kind = adam, .momentum = 0.9}});
  wrong({.optimiser = {.kind = adam, .beta2 = 1}});
  wrong({.optimiser = {.kind = adam, .epsilon = 0}});
  wrong({.optimiser = {.weight_decay = -1}});
  wrong({.optimiser = {.kind = adam}, .flow_time = 1});
  wrong({.schedule = {.kind = ScheduleKind::cosine}, .flow_time = 1});
  wrong({.regulariser = Regulariser::aux, .optimiser = {.kind = adam}});
  wrong({.epochs = -1});
  EXPECT_EQ((TrainOptions{.steps = 5}.steps_on(100)), 5);
  EXPECT_EQ((TrainOptions{.epochs = 0}.steps_on(100)), 0) << "not the default number of steps";
  EXPECT_EQ((TrainOptions{.epochs = 3}.steps_on(100)), 3);
  EXPECT_EQ((TrainOptions{.epochs = 3, .batch = 30}.steps_on(100)), 9);
  for (const OptimiserKind kind : {sgd, nesterov, adam, adamw}) EXPECT_EQ(parse_optimiser(to_string(kind)), kind);
  EXPECT_THROW((void)parse_optimiser("rmsprop"), Error);
}

TEST(LearningSchedule, HasItsShares) {
  const LearningSchedule constant;
  EXPECT_TRUE(constant.constant());
  EXPECT_EQ(constant.share(7, 10), 1);
  const LearningSchedule steps{.kind = ScheduleKind::step, .milestones = {0.5, 0.8}, .drop = 0.2};
  EXPECT_EQ(steps.share(4, 10), 1);
  EXPECT_EQ(steps.share(5, 10), 0.2);
  EXPECT_DOUBLE_EQ(steps.share(8, 10), 0.04);
  const LearningSchedule rising{.warmup = 0.3};
  EXPECT_FALSE(rising.constant());
  EXPECT_DOUBLE_EQ(rising.share(0, 10), 1.0 / 3);
  EXPECT_EQ(rising.share(2, 10), 1);
  EXPECT_EQ(rising.share(3, 10), 1);
  const LearningSchedule wrong[] = {
      {.warmup = 1}, {.milestones = {0.5, 0.5}}, {.milestones = {1}}, {.drop = 0}, {.last = 2}};
  for (const LearningSchedule& each : wrong) EXPECT_THROW(each.validate(), Error);
  for (const ScheduleKind kind : {ScheduleKind::constant, ScheduleKind::step, ScheduleKind::cosine}) {
    EXPECT_EQ(parse_learning_schedule(to_string(kind)), kind);
  }
}

}  // namespace
}  // namespace widelimit
