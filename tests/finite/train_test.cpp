#include "widelimit/finite/training/train.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/training/batches.hpp"
#include "widelimit/finite/training/trainer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {
namespace {

/// n samples of d features with targets ±1.
struct Points {
  Matrix<double> x;
  Matrix<double> y;

  Points(Index n, Index d, std::uint64_t seed, Index outputs = 1) : x(n, d), y(n, outputs) {
    const Random random(seed, 5);
    random.normals(0, n * d, 1.0, x.data());
    for (Index i = 0; i < n * outputs; ++i) {
      y.data()[i] = random.uniform(1'000'000 + static_cast<std::uint64_t>(i)) < 0.5 ? -1.0 : 1.0;
    }
  }
  [[nodiscard]] SampleView view() const { return {x.view(), {1, 1, x.cols()}}; }
  [[nodiscard]] TrainData data() const { return {view(), y.view()}; }
};

/// The discrete recursion of a kernel machine: z ← z − η(λ z + (n/|B|) Σ_{i∈B} l'(z_i) K(·, x_i)), with momentum.
Matrix<double> machine(const Matrix<double>& kernel, const Matrix<double>& y, const TrainOptions& options) {
  Matrix<double> z(y.rows(), y.cols());
  Matrix<double> velocity(y.rows(), y.cols());
  Batches batches(y.rows(), options.batch, options.seed);
  std::vector<double> slope(static_cast<std::size_t>(y.cols()));
  for (Index step = 0; step < options.steps; ++step) {
    const std::vector<Index>& batch = batches.of(step);
    Matrix<double> change(y.rows(), y.cols());
    for (const Index i : batch) {
      loss_slopes(options.loss, {z.view().row(i), slope.size()}, {y.view().row(i), slope.size()}, slope);
      const double weight = static_cast<double>(y.rows()) / static_cast<double>(batch.size());
      for (Index j = 0; j < y.rows(); ++j) {
        for (Index k = 0; k < y.cols(); ++k) change(j, k) += weight * slope[static_cast<std::size_t>(k)] * kernel(j, i);
      }
    }
    for (Index i = 0; i < y.rows() * y.cols(); ++i) {
      double& v = velocity.data()[i];
      v = options.optimiser.momentum * v - options.rate.value() * (options.lambda * z.data()[i] + change.data()[i]);
      z.data()[i] += v;
    }
  }
  return z;
}

Matrix<double> linear_kernel(const Matrix<double>& x) {
  Matrix<double> kernel(x.rows(), x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.rows(); ++j) {
      kernel(i, j) = std::inner_product(x.view().row(i), x.view().row(i) + x.cols(), x.view().row(j), 0.0) /
                     static_cast<double>(x.cols());
    }
  }
  return kernel;
}

std::vector<double> last_outputs(const TrainedNetwork& trained, Index numbers) {
  const auto& all = trained.record.outputs;
  return {all.end() - numbers, all.end()};
}

// A network that is linear in its weights is its own limit: every step equals the machine's up to rounding.
TEST(Train, OneLayerIsTheKernelMachine) {
  const Points points(11, 4, 1, 2);
  const Matrix<double> kernel = linear_kernel(points.x);
  for (const LossKind kind :
       {LossKind::squared, LossKind::hinge, LossKind::squared_hinge, LossKind::insensitive, LossKind::logistic}) {
    for (const Index batch : {0, 4}) {
      for (const double momentum : {0.0, 0.8}) {
        const TrainOptions options{.loss = {kind},
                                   .lambda = 0.3,
                                   .rate = 0.01,
                                   .steps = 60,
                                   .batch = batch,
                                   .optimiser = {.momentum = momentum},
                                   .centred = true,
                                   .seed = 3};
        const TrainedNetwork trained = train(Network::parse("dense"), points.data(), options);
        ASSERT_TRUE(trained.summary.finished());
        const Matrix<double> expected = machine(kernel, points.y, options);
        const auto outputs = last_outputs(trained, 22);
        for (Index i = 0; i < 22; ++i) {
          ASSERT_NEAR(outputs[static_cast<std::size_t>(i)], expected.data()[i], 1e-12)
              << to_string(kind) << " batch " << batch << " momentum " << momentum;
        }
      }
    }
  }
}

TEST(Train, SoftmaxOfOneLayerIsTheKernelMachine) {
  Points points(9, 4, 2, 3);
  for (Index i = 0; i < 9; ++i) {
    for (Index k = 0; k < 3; ++k) points.y(i, k) = i % 3 == k ? 1.0 : 0.0;
  }
  const TrainOptions options{.loss = {LossKind::softmax}, .lambda = 0.1, .rate = 0.05, .steps = 40, .centred = true};
  const TrainedNetwork trained = train(Network::parse("dense"), points.data(), options);
  const Matrix<double> expected = machine(linear_kernel(points.x), points.y, options);
  const auto outputs = last_outputs(trained, 27);
  for (Index i = 0; i < 27; ++i) EXPECT_NEAR(outputs[static_cast<std::size_t>(i)], expected.data()[i], 1e-12);
  EXPECT_EQ(trained.record.accuracy.size(), trained.record.steps.size());
}

TEST(Train, LinearisedNetworkIsTheMachineOfItsEmpiricalKernel) {
  const Points points(8, 5, 3);
  const Network network = Network::parse("dense(b_std=0.2) erf dense relu dense(b_std=0.1)");
  const TrainOptions options{.width = 17,
                             .loss = {LossKind::hinge},
                             .lambda = 0.2,
                             .rate = 0.02,
                             .steps = 50,
                             .batch = 3,
                             .centred = true,
                             .linearised = true};
  const TrainedNetwork trained = train(network, points.data(), options);
  const auto& start = std::get<Parameters<double>>(trained.start);
  const auto x = read_samples<double>(points.view(), {1, 1, 5});
  const Matrix<double> expected = machine(empirical_ntk(trained.architecture, start, x, x), points.y, options);
  const auto outputs = last_outputs(trained, 8);
  const Matrix<double> predicted = predict_outputs(trained, points.view());
  for (Index i = 0; i < 8; ++i) {
    EXPECT_NEAR(outputs[static_cast<std::size_t>(i)], expected(i, 0), 1e-11);
    EXPECT_NEAR(predicted(i, 0), expected(i, 0), 1e-11);
  }
}

// Zero losses leave only the penalty: (i) decays f by λ, (ii) by λ/m, (iii) not at all.
TEST(Train, RegularisersDecayAsTheyPromise) {
  const Points points(5, 4, 4);
  const Network network = Network::parse("dense relu dense(w_std=1.5)");
  const auto final_share = [&](Regulariser regulariser) {
    const TrainOptions options{.width = 20,
                               .loss = {LossKind::insensitive, 1e6},
                               .regulariser = regulariser,
                               .lambda = 0.5,
                               .rate = 0.1,
                               .steps = 30};
    const TrainedNetwork trained = train(network, points.data(), options);
    return last_outputs(trained, 5)[0] / trained.record.outputs[0];
  };
  EXPECT_NEAR(final_share(Regulariser::output), std::pow(1 - 0.05, 30), 1e-12);
  EXPECT_NEAR(final_share(Regulariser::weights), std::pow(1 - 0.05 * 2.25 / 20, 30), 1e-12);
  EXPECT_NEAR(final_share(Regulariser::init), 1.0, 1e-13);
  EXPECT_NEAR(final_share(Regulariser::none), 1.0, 1e-13);
}

// `aux` on a one-layer network converges to K(K + λI)⁻¹y: its residual f + λα − y vanishes for α = (K + λI)⁻¹y.
TEST(Train, AuxiliaryTermsActAsARidge) {
  const Points points(6, 3, 5);
  const double lambda = 0.7;
  const TrainOptions options{.loss = {LossKind::squared},
                             .regulariser = Regulariser::aux,
                             .lambda = lambda,
                             .rate = 0.05,
                             .steps = 4000,
                             .centred = true};
  const TrainedNetwork trained = train(Network::parse("dense"), points.data(), options);
  const auto f = last_outputs(trained, 6);
  const Matrix<double> kernel = linear_kernel(points.x);
  for (Index i = 0; i < 6; ++i) {
    double sum = 0;
    for (Index j = 0; j < 6; ++j) sum += kernel(i, j) * (points.y(j, 0) - f[static_cast<std::size_t>(j)]) / lambda;
    EXPECT_NEAR(sum, f[static_cast<std::size_t>(i)], 1e-9);  // K α = f with α = (y − f)/λ
  }
  EXPECT_LT(trained.record.objective.back(), 1e-9);
  EXPECT_GT(trained.record.loss.back(), 1e-3);
}

TEST(Train, FlowFollowsTheClosedForm) {
  Points points(2, 2, 6);
  points.x(0, 0) = 1.0;  // orthogonal samples: K = diag(½, 2)
  points.x(0, 1) = 0.0;
  points.x(1, 0) = 0.0;
  points.x(1, 1) = 2.0;
  const TrainOptions options{.loss = {LossKind::squared},
                             .rate = 0.001,
                             .steps = 100'000,
                             .centred = true,
                             .flow_time = 1.5,
                             .tolerance = 1e-5,
                             .records = 7};
  const TrainedNetwork trained = train(Network::parse("dense"), points.data(), options);
  ASSERT_TRUE(trained.summary.finished()) << trained.summary.message;
  ASSERT_EQ(trained.record.count(), 7);
  EXPECT_DOUBLE_EQ(trained.record.times.back(), 1.5);
  for (Index r = 0; r < 7; ++r) {
    const double t = trained.record.times[static_cast<std::size_t>(r)];
    for (Index i = 0; i < 2; ++i) {
      const double exact = points.y(i, 0) * (1 - std::exp(-2 * (i == 0 ? 0.5 : 2.0) * t));
      // Euler's error per step is below 1e-5·2; Heun's is smaller by a factor of the step size.
      EXPECT_NEAR(trained.record.outputs[static_cast<std::size_t>(2 * r + i)], exact, 1e-4);
    }
  }
  TrainOptions shortened = options;
  shortened.steps = 3;
  const TrainedNetwork stopped = train(Network::parse("dense"), points.data(), shortened);
  EXPECT_EQ(stopped.summary.ending, TrainEnding::step_limit);
  EXPECT_FALSE(stopped.summary.message.empty());
}

TEST(Train, TellsWhereItDivergesAndStaysFinite) {
  const Points points(6, 3, 7);
  for (const char* network : {"dense relu dense", "dense exp dense"}) {
    const TrainOptions options{.width = 30, .loss = {LossKind::squared}, .rate = 1e3, .steps = 500};
    const TrainedNetwork trained = train(Network::parse(network), points.data(), options);
    EXPECT_EQ(trained.summary.ending, TrainEnding::diverged);
    EXPECT_NE(trained.summary.message.find("smaller learning rate"), std::string::npos);
    for (const auto& slot : std::get<Parameters<double>>(trained.parameters).slots) {
      for (const double w : slot.w) ASSERT_TRUE(std::isfinite(w));
    }
    for (const double value : trained.record.loss) EXPECT_TRUE(std::isfinite(value));
  }
}

// One layer is a quadratic problem: below the stable rate descent converges, above it diverges.
TEST(Train, StableRateIsWhereDescentTurns) {
  const Points points(20, 6, 15);
  const Network network = Network::parse("dense");
  const auto architecture = Architecture::make(network, {1, 1, 6}, {});
  const auto x = read_samples<double>(points.view(), architecture.input);
  const auto rate = stable_rate(architecture, draw_parameters<double>(architecture, 0), x,
                                {.loss = {LossKind::squared}, .lambda = 0.5}, all_processors());
  ASSERT_TRUE(rate);
  const auto ending = [&](double factor) {
    return train(network, points.data(), {.loss = {LossKind::squared}, .lambda = 0.5, .rate = factor * *rate})
        .summary.ending;
  };
  EXPECT_EQ(ending(0.9), TrainEnding::finished);
  EXPECT_EQ(ending(1.2), TrainEnding::diverged);
  EXPECT_FALSE(stable_rate(architecture, draw_parameters<double>(architecture, 0), x,
                           {.loss = {LossKind::hinge}, .lambda = 0.5}, all_processors()));
}

// Many positions and a small matrix: sums in blocks of rows, against finite differences of the objective.
TEST(Train, StepOfAConvolutionOverManyPositions) {
  const Points images(40, 16 * 16, 16);
  const TrainData data{SampleView(images.x.view(), {16, 16, 1}), images.y.view()};
  TrainOptions options{
      .width = 3, .loss = {LossKind::squared}, .lambda = 0.1, .rate = 1e-3, .steps = 1, .optimiser = {.momentum = 0.5}};
  const Network network = Network::parse("conv(b_std=0.1) erf conv erf global_avg_pool dense");
  const TrainedNetwork one = train(network, data, options, *make_engine("cpu", {.threads = 1}));
  const TrainedNetwork three = train(network, data, options, *make_engine("cpu", {.threads = 3}));
  const auto& start = std::get<Parameters<double>>(one.start);
  const auto& end = std::get<Parameters<double>>(one.parameters);
  const auto x = read_samples<double>(data.x, {16, 16, 1});
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(end.slots[l].w, std::get<Parameters<double>>(three.parameters).slots[l].w);
    for (const std::size_t at : {0U, 5U, 8U}) {
      const auto objective = [&](double change) {
        Parameters<double> moved = start;
        moved.slots[l].w[at] += change;
        const auto trace = forward(one.architecture, moved, x);
        double sum = 0;
        for (Index i = 0; i < 40; ++i) sum += loss_value(options.loss, trace.output()[i], images.y(i, 0));
        return sum;
      };
      const double slope = (objective(1e-5) - objective(-1e-5)) / 2e-5;
      EXPECT_NEAR(end.slots[l].w[at] - start.slots[l].w[at], -1e-3 * slope, 1e-10 * (1 + std::abs(slope)));
    }
  }
}

TEST(Train, DoesNotKnowHowManyThreadsThereAre) {
  const Points points(40, 30, 8);
  const Network network = Network::parse("dense(b_std=0.1) relu dense relu dropout(rate=0.8) dense");
  TrainOptions options{.width = 300,
                       .loss = {LossKind::logistic},
                       .lambda = 0.01,
                       .rate = 0.05,
                       .steps = 6,
                       .batch = 20,
                       .optimiser = {.momentum = 0.5},
                       .precision = Precision::f32};
  const TrainedNetwork one = train(network, points.data(), options, *make_engine("cpu", {.threads = 1}));
  const TrainedNetwork three = train(network, points.data(), options, *make_engine("cpu", {.threads = 3}));
  const auto& a = std::get<Parameters<float>>(one.parameters);
  const auto& b = std::get<Parameters<float>>(three.parameters);
  for (std::size_t l = 0; l < a.slots.size(); ++l) {
    EXPECT_EQ(a.slots[l].w, b.slots[l].w);
    EXPECT_EQ(a.slots[l].b, b.slots[l].b);
  }
  EXPECT_EQ(one.record.outputs, three.record.outputs);
}

// Training in f32 agrees with f64 to the precision of f32.
TEST(Train, PrecisionsAgree) {
  const Points points(12, 6, 9);
  const Network network = Network::parse("dense erf dense erf dense");
  TrainOptions options{.width = 64, .loss = {LossKind::squared}, .lambda = 0.1, .rate = 0.02, .steps = 100};
  const auto wide = last_outputs(train(network, points.data(), options), 12);
  options.precision = Precision::f32;
  const auto narrow = last_outputs(train(network, points.data(), options), 12);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(wide[i], narrow[i], 1e-4);
}

TEST(Train, LearnsWithEveryKindOfLayer) {
  Points images(10, 5 * 5 * 2, 10);
  const TrainData data{SampleView(images.x.view(), {5, 5, 2}), images.y.view()};
  const Network network = Network::parse(
      "conv(b_std=0.1) relu residual{ conv relu conv | conv(kernel=1) } layer_norm avg_pool attention relu flatten "
      "dense");
  const TrainOptions options{.width = 16, .loss = {LossKind::squared}, .rate = 0.02, .steps = 120, .records = 5};
  const TrainedNetwork trained = train(network, data, options);
  EXPECT_TRUE(trained.summary.finished()) << trained.summary.message;
  EXPECT_LT(trained.record.loss.back(), 0.2 * trained.record.loss.front());
  EXPECT_EQ(trained.record.accuracy.back(), 1.0);
  const Matrix<double> outputs = predict_outputs(trained, data.x);
  for (Index i = 0; i < 10; ++i)
    EXPECT_NEAR(outputs(i, 0), last_outputs(trained, 10)[static_cast<std::size_t>(i)], 1e-12);
}

TEST(Train, RecordsTestSamplesAndStaysInItsBounds) {
  const Points points(7, 3, 11);
  const Points test(5, 3, 12);
  TrainData data = points.data();
  data.test = test.view();
  data.test_y = test.y.view();
  const TrainOptions options{.width = 8, .steps = 1000, .batch = 2, .records = 11};
  const TrainedNetwork trained = train(Network::parse("dense relu dense"), data, options);
  ASSERT_EQ(trained.record.count(), 11);
  EXPECT_EQ(trained.record.steps[1], 100);
  EXPECT_EQ(trained.record.steps.back(), 1000);
  EXPECT_EQ(trained.record.test_outputs.size(), 55U);
  EXPECT_EQ(trained.record.test_loss.size(), 11U);
  EXPECT_EQ(trained.record.distance.front(), 0.0);
  EXPECT_GT(trained.record.distance.back(), 0.0);
  EXPECT_EQ(bounded_records(1000, Index{1} << 30), 2);
  EXPECT_EQ(bounded_records(1000, 1), 1000);
}

TEST(Train, ShowsEveryStepToTheObserver) {
  const Points points(6, 3, 13);
  std::vector<double> times;
  TrainOptions options{.width = 5, .loss = {LossKind::hinge}, .rate = 0.1, .steps = 7, .batch = 2};
  options.observer = [&](const TrainStep& step) {
    EXPECT_EQ(step.step, std::ssize(times));
    EXPECT_EQ(step.batch.size(), 2U);
    EXPECT_EQ(step.weight, 3.0);
    EXPECT_EQ(step.slopes(0, 0), loss_slope({LossKind::hinge}, step.outputs(0, 0), points.y(step.batch[0], 0)));
    EXPECT_NE(std::get<const Parameters<double>*>(step.parameters), nullptr);
    times.push_back(step.time);
  };
  (void)train(Network::parse("dense relu dense"), points.data(), options);
  EXPECT_EQ(times.size(), 7U);
}

TEST(Train, RefusesWhatCannotBeTrained) {
  const Points points(4, 3, 14);
  const Network network = Network::parse("dense relu dense");
  const auto refuses = [&](const TrainOptions& options) {
    EXPECT_THROW((void)train(network, points.data(), options), Error);
  };
  refuses({.rate = 0});
  refuses({.rate = std::numeric_limits<double>::quiet_NaN()});
  refuses({.lambda = -1});
  refuses({.steps = -1});
  refuses({.batch = 5});
  refuses({.optimiser = {.momentum = 1}});
  refuses({.optimiser = {.momentum = 0.5}, .flow_time = 1});
  refuses({.records = 1});
  refuses({.width = 1'000'000, .memory = 1'000'000});
  EXPECT_THROW((void)train(Network::parse("dense relu"), points.data(), {.width = 4}), Error);
  EXPECT_THROW(
      (void)train(Network::parse("dense relu"), points.data(), {.width = 1, .regulariser = Regulariser::output}),
      Error);
  Points wrong(4, 3, 14);
  wrong.y(2, 0) = 0.5;
  EXPECT_THROW((void)train(network, wrong.data(), {.loss = {LossKind::hinge}}), Error);
  EXPECT_NO_THROW((void)train(network, wrong.data(), {.width = 4, .steps = 0}));
  wrong.y(2, 0) = std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)train(network, wrong.data(), {}), Error);
  const Points none(0, 3, 1);
  EXPECT_THROW((void)train(network, none.data(), {}), Error);
  for (const Regulariser each :
       {Regulariser::none, Regulariser::output, Regulariser::weights, Regulariser::init, Regulariser::aux}) {
    EXPECT_EQ(parse_regulariser(to_string(each)), each);
    EXPECT_FALSE(words(each).empty());
  }
}

}  // namespace
}  // namespace widelimit
