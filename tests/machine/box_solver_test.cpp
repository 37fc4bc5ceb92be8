#include "widelimit/machine/svm/box_solver.hpp"

#include "tests/machine/box_fixture.hpp"
#include "widelimit/kernel/gram_columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {
namespace {

BoxProblem svm_dual(std::span<const double> labels, double bound, bool equality) {
  BoxProblem problem;
  problem.equality = equality;
  problem.classifies = true;
  for (const double y : labels) {
    problem.linear.push_back(-y);
    problem.lower.push_back(y > 0 ? 0 : -bound);
    problem.upper.push_back(y > 0 ? bound : 0);
  }
  return problem;
}

TEST(Columns, OfAPartAreTheSameHoweverFewAreKept) {
  const Clouds data = clouds(37, 1.0, 1);
  GramColumns<double> root(data.gram.view());
  std::vector<Index> chosen;
  for (Index i = 0; i < 37; i += (i % 4 == 0 ? 3 : 1)) chosen.push_back(i);
  for (const std::size_t memory : {std::size_t{0}, std::size_t{800}, std::size_t{1} << 20}) {
    GramColumns<double> part(root, chosen, memory);
    const Index n = part.size();
    for (Index step = 0; step < 300; ++step) {
      const Index k = step * 7 % n;
      const Index l = step * 5 % n;
      const double* first = part.column(k);
      const double* second = part.column(l);  // must not invalidate the first
      for (Index i = 0; i < n; ++i) {
        ASSERT_EQ(first[i], data.gram(chosen[static_cast<std::size_t>(i)], chosen[static_cast<std::size_t>(k)]));
        ASSERT_EQ(second[i], data.gram(chosen[static_cast<std::size_t>(i)], chosen[static_cast<std::size_t>(l)]));
      }
    }
  }
}

TEST(Columns, OfASmallPartAreThoseOfTheMatrix) {
  const Clouds data = clouds(90, 1.0, 1);
  for (const Index n : {1, 2, 63, 64, 65}) {
    std::vector<Index> chosen;
    for (Index i = 0; i < n; ++i) chosen.push_back(i < 20 ? i + 3 : 90 - n + i);
    GramColumns<double> part(data.gram.view(), chosen, GramColumns<double>::default_memory);
    for (Index k = 0; k < n; ++k) {
      const double* column = part.column(k);
      for (Index i = 0; i < n; ++i) ASSERT_EQ(column[i], data.gram(chosen[usize(i)], chosen[usize(k)]));
      EXPECT_EQ(part.diagonal(k), column[k]);
    }
  }
}

TEST(BoxSolver, PartOfAMatrixAndShrinkingChangeNothing) {
  const Index n = 700;
  const Clouds data = clouds(n, 0.7, 21);
  std::vector<Index> chosen;
  std::vector<double> labels;
  for (Index i = 0; i < n; ++i) {
    if (i % 5 == 4) continue;
    chosen.push_back(i);
    labels.push_back(data.labels[static_cast<std::size_t>(i)]);
  }
  Matrix<double> gram(std::ssize(chosen), std::ssize(chosen));
  for (Index i = 0; i < gram.rows(); ++i) {
    for (Index j = 0; j < gram.rows(); ++j) {
      gram(i, j) = data.gram(chosen[static_cast<std::size_t>(i)], chosen[static_cast<std::size_t>(j)]);
    }
  }
  for (const bool equality : {false, true}) {
    const BoxProblem problem = svm_dual(labels, 20, equality);
    const BoxSolution part = BoxSolver(data.gram.view(), chosen).solve(problem, {.tolerance = 1e-9});
    const BoxSolution tight =
        BoxSolver(data.gram.view(), chosen, 50'000).solve(problem, {.tolerance = 1e-9, .memory = 0});
    const BoxSolution whole = BoxSolver(gram.view()).solve(problem, {.tolerance = 1e-9});
    EXPECT_EQ(part.ending, Ending::converged);
    EXPECT_NEAR(part.objectives.dual, whole.objectives.dual, 2e-9 * whole.objectives.dual);
    EXPECT_NEAR(part.objectives.dual, tight.objectives.dual, 2e-9 * whole.objectives.dual);
  }
}

TEST(BoxSolver, ObjectivesWithoutLossesHoldInEveryWiderBox) {
  const Clouds data = clouds(24, 1.0, 17);
  BoxProblem problem = svm_dual(data.labels, 1e4, true);
  BoxSolver solver(data.gram.view());
  const BoxSolution found = solver.solve(problem);
  ASSERT_EQ(found.ending, Ending::converged);
  ASSERT_TRUE(found.objectives.lossless);
  std::vector<double> lengths(24, 1.0);  // a Gaussian kernel
  const ProductError error{lengths, found.error.relative, found.error.absolute};
  const Objectives own = objectives(problem, found.a, found.product, found.bias, error);
  for (double& bound : problem.lower) bound *= 1e6;
  for (double& bound : problem.upper) bound *= 1e6;
  const Objectives wider = objectives(problem, found.a, found.product, found.bias, error);
  EXPECT_TRUE(wider.lossless);
  EXPECT_EQ(wider.primal, own.primal);
  EXPECT_EQ(wider.dual, own.dual);
  // A sample slightly inside its margin has a loss, which a wider box increases.
  std::vector<double> product = found.product;
  for (std::size_t i = 0; i < product.size(); ++i) product[i] *= 1 - 1e-9;
  EXPECT_FALSE(objectives(problem, found.a, product, found.bias, error).lossless);
}

TEST(BoxSolver, StartsFromWhatItIsGiven) {
  const Clouds data = clouds(100, 1.0, 22);
  for (const bool equality : {false, true}) {
    const BoxProblem problem = svm_dual(data.labels, 3, equality);
    BoxSolver solver(data.gram.view());
    const BoxSolution cold = solver.solve(problem);
    const BoxSolution again = solver.solve(problem, {}, {cold.a, {}});
    EXPECT_EQ(again.iterations, 0);
    EXPECT_NEAR(again.objectives.dual, cold.objectives.dual, 1e-12 * cold.objectives.dual);
    // Another feasible start: half of the solution.
    std::vector<double> half(cold.a);
    for (double& a : half) a /= 2;
    const BoxSolution warm = solver.solve(problem, {}, {half, {}});
    EXPECT_NEAR(warm.objectives.dual, cold.objectives.dual, 2e-6 * cold.objectives.dual);
  }
}

TEST(BoxSolver, TeamsGiveTheAnswerOfOneThread) {
  // Enough variables to use several threads. A view with stride 0 repeats one row n times: a Gram matrix of 40,000
  // samples without its memory.
  const Index n = 40'000;
  const Matrix<float> row(1, n);
  const MatrixView<const float> zero{row.data(), n, n, 0};
  std::vector<double> labels;
  for (Index i = 0; i < n; ++i) labels.push_back(i % 2 == 0 ? 1 : -1);
  const BoxProblem problem = svm_dual(labels, 1e-3, true);
  const auto solve = [&](int threads) {
    const auto engine = make_engine("cpu", {.threads = threads});
    return BoxSolver({AnyView(zero), *engine}).solve(problem, {.max_iterations = 20});
  };
  const BoxSolution one = solve(1);
  const BoxSolution two = solve(2);
  EXPECT_EQ(one.a, two.a);
  EXPECT_GT(one.objectives.dual, 0);
}

}  // namespace
}  // namespace widelimit
