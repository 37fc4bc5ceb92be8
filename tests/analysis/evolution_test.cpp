#include "widelimit/analysis/evolution/evolution.hpp"

#include "tests/analysis/evolution_fixture.hpp"

#include "widelimit/analysis/evolution/gates.hpp"
#include "widelimit/analysis/spectrum.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace widelimit {
namespace {

std::vector<Matrix<double>> two_by_two(std::initializer_list<double> entries) {
  std::vector<Matrix<double>> k;
  k.emplace_back(2, 2);
  std::copy(entries.begin(), entries.end(), k[0].data());
  return k;
}

TEST(KernelMeasures, DistanceIsOneMinusTheCosine) {
  const auto k = two_by_two({2, 1, 1, 3});
  EXPECT_NEAR(kernel_distance(k, two_by_two({4e200, 2e200, 2e200, 6e200})), 0, 1e-15);
  EXPECT_NEAR(kernel_distance(k, two_by_two({-2, -1, -1, -3})), 2, 1e-15);
  // ⟨K, L⟩ = 2, ‖K‖² = 15, ‖L‖² = 2.
  EXPECT_NEAR(kernel_distance(k, two_by_two({0, 1, 1, 0})), 1 - 2 / std::sqrt(15.0 * 2), 1e-15);
  EXPECT_NEAR(kernel_norm(k), std::sqrt(15.0), 1e-15);
  EXPECT_EQ(refusal_of([&] { (void)kernel_distance(k, two_by_two({0, 0, 0, 0})); }), Code::numerical);
}

TEST(KernelMeasures, ClassMeansCountSelfPairs) {
  const auto k = two_by_two({2, 1, 1, 4});
  const ClassMeans two = class_means(k[0].view(), std::vector<Index>{0, 1});
  EXPECT_EQ(two.same, 3);
  EXPECT_EQ(two.different, 1);
  EXPECT_EQ(two.diagonal, 3);
  EXPECT_EQ(refusal_of([&] { (void)class_means(k[0].view(), std::vector<Index>{1, 1}); }), Code::input);
}

/// Three outputs of a network with biases on images, against the kernel of all pairs of outputs.
TEST(OutputKernels, AreTheDiagonalBlocksOfTheFullKernel) {
  const Architecture architecture = Architecture::make(Network::parse("conv(b_std=0.3) relu global_avg_pool dense"),
                                                       Shape{3, 3, 2}, {.hidden = 4, .outputs = 3});
  const auto w = draw_parameters<double>(architecture, 5);
  Tensor<double> x(4, architecture.input);
  Random(1).normals(0, x.size(), 1.0, x.data());
  const Matrix<double> full = empirical_ntk(architecture, w, x, x, {.outputs = NtkOutputs::full});
  const OutputKernels each = output_kernels(architecture, w, x, {.outputs = KernelOutputs::each});
  const OutputKernels trace = output_kernels(architecture, w, x, {});
  ASSERT_EQ(each.kernels.size(), 3U);
  ASSERT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(trace.relative_error, 0);
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) {
      double mean = 0;
      for (Index k = 0; k < 3; ++k) {
        EXPECT_NEAR(each.kernels[usize(k)](i, j), full(i * 3 + k, j * 3 + k), 1e-12);
        mean += full(i * 3 + k, j * 3 + k) / 3;
      }
      EXPECT_NEAR(trace.kernels[0](i, j), mean, 1e-12);
    }
  }
}

/// Random projections have the stated standard error: with S = 400 directions at most √(2/S) for one output, less for a
/// mean over outputs; its estimate has relative error of about 1/√S. Five standard errors fail in one case in a
/// million.
TEST(OutputKernels, SketchesHaveTheirStandardError) {
  const Architecture architecture =
      Architecture::make(Network::parse("fc:2(b_std=0.1)"), Shape{1, 1, 4}, {.hidden = 12, .outputs = 3});
  const auto w = draw_parameters<double>(architecture, 2);
  Tensor<double> x(5, architecture.input);
  Random(4).normals(0, x.size(), 1.0, x.data());
  for (const KernelOutputs outputs : {KernelOutputs::trace, KernelOutputs::each}) {
    const OutputKernels exact = output_kernels(architecture, w, x, {.outputs = outputs});
    const OutputKernels sketch =
        output_kernels(architecture, w, x, {.outputs = outputs, .projections = 400, .seed = 9});
    ASSERT_EQ(sketch.kernels.size(), exact.kernels.size());
    double difference = 0;
    for (std::size_t k = 0; k < exact.kernels.size(); ++k) {
      for (Index i = 0; i < 25; ++i) {
        difference += std::pow(sketch.kernels[k].data()[i] - exact.kernels[k].data()[i], 2);
      }
    }
    const double relative = std::sqrt(difference) / kernel_norm(exact.kernels);
    EXPECT_GT(sketch.relative_error, 0.01);
    EXPECT_LT(sketch.relative_error, 2 * std::sqrt(2.0 / 400));
    EXPECT_LT(relative, 5 * sketch.relative_error);
    EXPECT_GT(relative, sketch.relative_error / 20);
  }
  EXPECT_EQ(refusal_of([&] { (void)output_kernels(architecture, w, x, {.projections = 1}); }), Code::usage);
}

TEST(Gates, AreTheSignsOfInputsOfKinks) {
  const ProbedTask task(4);
  const Architecture smooth = Architecture::make(Network::parse("fc:1(activation=erf)"), task.view().shape, {});
  const Architecture kinked =
      Architecture::make(Network::parse("residual{ relu dense } dense relu dense"), task.view().shape, {.hidden = 6});
  const auto w = draw_parameters<double>(kinked, 1);
  const Tensor<double> x = read_samples<double>(task.view(), kinked.input);
  const Trace<double> trace = forward(kinked, w, x);
  const std::vector<bool> gates = open_gates(kinked, trace);
  ASSERT_EQ(std::ssize(gates), 4 * 5 + 4 * 6);
  for (Index i = 0; i < 20; ++i) EXPECT_EQ(gates[usize(i)], task.x.data()[i] > 0);
  for (Index i = 0; i < 24; ++i) EXPECT_EQ(gates[usize(20 + i)], trace.values[2][i] > 0);
  EXPECT_TRUE(open_gates(smooth, forward(smooth, draw_parameters<double>(smooth, 1), x)).empty());
  EXPECT_FALSE(share_changed({}, {}));
  EXPECT_EQ(share_changed({true, false, true, true}, {true, true, true, false}), 0.5);
}

/// Every checkpoint equals the end of a shorter training.
TEST(EvolutionOfKernels, SeesWhatShorterTrainingsEndWith) {
  const ProbedTask task(11);
  const EvolutionOptions options = watched_training();
  const Network network = Network::parse("fc:2(w_std=1.4)");
  const Evolution found = evolution(network, task.data(), task.probe(), options);
  ASSERT_EQ(found.checkpoints.size(), 4U);
  ASSERT_EQ(found.kernels.size(), 4U);
  for (std::size_t k = 0; k < 4; ++k) {
    const Checkpoint& point = found.checkpoints[k];
    TrainOptions shorter = options.train;
    shorter.steps = point.step;
    const TrainedNetwork there = train(network, task.data(), shorter);
    const auto& w = std::get<Parameters<double>>(there.parameters);
    const Tensor<double> x = read_samples<double>(task.view(), there.architecture.input);
    const Matrix<double> kernel = empirical_ntk(there.architecture, w, x, x);
    for (Index i = 0; i < 121; ++i) ASSERT_NEAR(found.kernels[k][0].data()[i], kernel.data()[i], 1e-10);
    EXPECT_NEAR(point.moved, there.record.distance.back(), 1e-12);
    EXPECT_NEAR(point.loss, there.record.loss.back(), 1e-9);
    EXPECT_EQ(point.accuracy, there.record.accuracy.back());
    EXPECT_EQ(point.epoch, static_cast<double>(point.step) / 2);  // 11 samples give two batches of 5
    // Largest eigenvalue over all 33 outputs; the power method stops within a few multiples of 10⁻³ below it.
    Matrix<double> full = empirical_ntk(there.architecture, w, x, x, {.outputs = NtkOutputs::full});
    const double largest = eigenvalues(full).front();
    EXPECT_NEAR(*point.largest_eigenvalue, largest, 0.03 * largest);
    EXPECT_NEAR(*point.sharpness, 2 * 0.01 * *point.largest_eigenvalue, 1e-12);
    const ClassMeans means = class_means(kernel.view(), task.classes);
    EXPECT_NEAR(point.classes->same_ratio(), means.same_ratio(), 1e-10);
    EXPECT_GT(*point.elasticity, 0.5);
  }
  EXPECT_EQ(found.checkpoints[2].step, 7);
  EXPECT_EQ(found.distances(1, 3), found.distances(3, 1));
  EXPECT_EQ(found.distances(0, 2), found.checkpoints[2].distance);
  EXPECT_NEAR(*found.checkpoints[2].velocity, found.distances(1, 2) / 2, 1e-15);  // steps 3 to 7 span two epochs
  EXPECT_FALSE(found.checkpoints[0].velocity);
  EXPECT_EQ(found.checkpoints[0].gates_changed, 0.0);
  EXPECT_GT(*found.checkpoints[3].gates_changed, 0.0);
  EXPECT_TRUE(found.remarks.empty());
}

TEST(EvolutionOfKernels, ByClassAndSketched) {
  const ProbedTask task(9);
  EvolutionOptions options = watched_training();
  options.kernel.outputs = KernelOutputs::each;
  const Network network = Network::parse("fc:1");
  const Evolution exact = evolution(network, task.data(), task.probe(), options);
  ASSERT_EQ(exact.kernels.back().size(), 3U);
  ASSERT_EQ(exact.checkpoints.back().class_distances.size(), 3U);
  EXPECT_NEAR(exact.checkpoints.back().class_distances[1],
              kernel_distance(std::span(exact.kernels[0]).subspan(1, 1), std::span(exact.kernels[3]).subspan(1, 1)),
              1e-15);
  options.kernel.projections = 64;
  options.keep_kernels = false;
  const Evolution sketch = evolution(network, task.data(), task.probe(), options);
  EXPECT_TRUE(sketch.kernels.empty());
  EXPECT_GT(sketch.checkpoints[0].kernel_error, 0);
  EXPECT_EQ(sketch.remarks.size(), 1U);
  // The same network; sketches with the same signs have correlated errors.
  EXPECT_EQ(sketch.checkpoints.back().loss, exact.checkpoints.back().loss);
  EXPECT_NEAR(sketch.checkpoints.back().distance, exact.checkpoints.back().distance,
              std::pow(5 * sketch.checkpoints[0].kernel_error, 2));
}

TEST(EvolutionOfKernels, DoesNotDependOnThreads) {
  const ProbedTask task(8);
  EvolutionOptions options = watched_training();
  options.train.precision = Precision::f32;
  options.kernel.projections = 8;
  const Network network = Network::parse("fc:2");
  const auto single = make_engine("cpu", {.threads = 1});
  const auto several = make_engine("cpu", {.threads = 3});
  const Evolution a = evolution(network, task.data(), task.probe(), options, *single);
  const Evolution b = evolution(network, task.data(), task.probe(), options, *several);
  for (Index i = 0; i < a.distances.rows() * a.distances.cols(); ++i) {
    EXPECT_EQ(a.distances.data()[i], b.distances.data()[i]);
  }
}

TEST(EvolutionOfKernels, RefusesWhatDoesNotEvolve) {
  const ProbedTask task(6);
  const Network network = Network::parse("fc:1");
  const auto refused = [&](const std::function<void(EvolutionOptions&)>& change) {
    EvolutionOptions options = watched_training();
    change(options);
    return refusal_of([&] { (void)evolution(network, task.data(), task.probe(), options); });
  };
  EXPECT_EQ(refused([](auto& o) { o.train.linearised = true; }), Code::usage);
  EXPECT_EQ(refused([](auto& o) { o.at = {3, 13}; }), Code::usage);
  EXPECT_EQ(refused([](auto& o) { o.at = {7, 3}; }), Code::usage);
  EXPECT_EQ(refused([](auto& o) { o.at_epochs = {1}; }), Code::usage);
  EXPECT_EQ(refused([](auto& o) { o.branch_at = {3}; }), Code::usage);
  EXPECT_EQ(refused([](auto& o) { o.kernel.projections = 1; }), Code::usage);
  EXPECT_EQ(refused([](auto& o) {
              o.train.batch = 0;
              o.barrier.emplace();
            }),
            Code::usage);
  EXPECT_EQ(refused([](auto& o) { o.train.memory = 100; }), Code::resource);
  EvolutionOptions options = watched_training();
  Probe probe = task.probe();
  probe.x = task.view().part(0, 1);
  EXPECT_EQ(refusal_of([&] { (void)evolution(network, task.data(), probe, options); }), Code::input);
}

TEST(EvolutionOfKernels, EndsWhereTheTrainingDiverges) {
  const ProbedTask task(6);
  EvolutionOptions options = watched_training();
  options.train.rate = 50;
  options.train.steps = 200;
  options.at = {1, 150};
  options.barrier.emplace();
  const Evolution found = evolution(Network::parse("fc:2"), task.data(), task.probe(), options);
  EXPECT_EQ(found.trained.summary.ending, TrainEnding::diverged);
  EXPECT_LT(found.checkpoints.size(), 4U);
  EXPECT_TRUE(found.barriers.empty());
}

TEST(ProbeSamples, AreBalanced) {
  const std::vector<Index> classes{2, 0, 0, 1, 0, 2, 0};
  EXPECT_EQ(probe_samples(classes, 7, 5), (std::vector<Index>{1, 2, 3, 0, 5}));
  EXPECT_EQ(probe_samples(classes, 7, 99).size(), 7U);
  EXPECT_EQ(probe_samples({}, 7, 3), (std::vector<Index>{0, 1, 2}));
}

}  // namespace
}  // namespace widelimit
