#include "tests/analysis/bound_fixture.hpp"
#include "widelimit/analysis/bounds/rademacher_bound.hpp"
#include "widelimit/finite/training/targets.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

struct PathTask {
  Matrix<double> x;
  std::vector<Index> labels;
};

PathTask path_task(Index n, Index classes) {
  PathTask task{.x = Matrix<double>(n, 3), .labels = {}};
  const Random random(4);
  for (Index i = 0; i < n; ++i) {
    task.labels.push_back(i % classes);
    for (Index j = 0; j < 3; ++j) {
      task.x(i, j) = random.normal(static_cast<std::uint64_t>(3 * i + j)) + (j == i % classes ? 2.0 : 0.0);
    }
  }
  return task;
}

NetAsMachine trained_on(const PathTask& task, Index classes, const std::string& network, Index steps) {
  const Loss loss{.kind = LossKind::hinge};
  const Matrix<double> y = class_targets(task.labels, classes, loss);
  TrainOptions options;
  options.width = 16;
  options.loss = loss;
  options.regulariser = Regulariser::output;
  options.lambda = 0.5;
  options.rate = 0.01;
  options.steps = steps;
  const SampleView x(task.x.view(), Shape{1, 1, 3});
  return train_as_kernel_machine(Network::parse(network), {.x = x, .y = y.view()}, options);
}

/// One step of a linear network: K(x, xᵢ) = η|l'ᵢ|⟨x, xᵢ⟩·m/d under `output`, a = y if l' ≠ 0.
TEST(PathBound, OfOneStepByHand) {
  const PathTask task = path_task(7, 2);
  const NetAsMachine net = trained_on(task, 2, "dense", 1);
  const RademacherBound bound = path_bound(net, task.labels, 2);
  double square = 0;
  double trace = 0;
  for (Index i = 0; i < 7; ++i) {
    trace += net.machine.k(i, i);
    // Σ aᵢ(f_T(xᵢ) − b(xᵢ)) = aᵀKa by the theorem.
    square += net.machine.a[static_cast<std::size_t>(i)] *
              (net.machine.values[static_cast<std::size_t>(i)] - net.machine.b[static_cast<std::size_t>(i)]);
  }
  EXPECT_NEAR(bound.size.norm, std::sqrt(square), 1e-12);
  EXPECT_NEAR(bound.size.trace, trace, 1e-12);
  EXPECT_NEAR(bound.textbook.complexity, 2 * std::sqrt(square * trace) / 7, 1e-12);
  EXPECT_EQ(bound.size.offset, 0);  // b(x) is fixed in advance
  EXPECT_FALSE(bound.uniform);
  EXPECT_FALSE(bound.note.empty());
}

TEST(PathBound, OfANetworkWithHiddenLayersAndOfThreeClasses) {
  const PathTask two = path_task(20, 2);
  const RademacherBound binary = path_bound(trained_on(two, 2, "fc:1", 30), two.labels, 2);
  EXPECT_GT(binary.size.norm, 0);
  EXPECT_LT(binary.textbook.empirical, 1);
  const PathTask three = path_task(20, 3);
  const RademacherBound several = path_bound(trained_on(three, 3, "fc:1", 30), three.labels, 3);
  EXPECT_EQ(several.size.outputs, 2);
  EXPECT_TRUE(std::isfinite(several.textbook.value()));
}

TEST(PathBound, RefusesWhatDoesNotBelongTogether) {
  const PathTask task = path_task(7, 2);
  NetAsMachine net = trained_on(task, 2, "dense", 1);
  EXPECT_EQ(bound_test::code_thrown([&] { (void)path_bound(net, std::span(task.labels).first(6), 2); }), Code::usage);
  EXPECT_EQ(bound_test::code_thrown([&] { (void)path_bound(net, task.labels, 3); }), Code::usage);
  EXPECT_EQ(bound_test::code_thrown([&] { (void)path_bound({}, task.labels, 2); }), Code::usage);
  for (Index i = 0; i < 49; ++i) net.machine.k.data()[i] *= -1;
  EXPECT_EQ(bound_test::code_thrown([&] { (void)path_bound(net, task.labels, 2); }), Code::input);
}

}  // namespace
}  // namespace widelimit
