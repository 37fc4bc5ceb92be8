#include "widelimit/machine/svm/interior_point.hpp"

#include "widelimit/base/random.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/svm/box_solver.hpp"
#include "widelimit/machine/svm/partial_factor.hpp"
#include "widelimit/machine/svm/svm.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Low-dimensional points with labels that no hyperplane separates, and their linear kernel.
struct FlatData {
  Matrix<double> x;
  Matrix<double> gram;
  std::vector<double> labels;
};

FlatData flat_data(Index n, Index dimensions, std::uint64_t seed) {
  const Random random(seed);
  FlatData data{Matrix<double>(n, dimensions), Matrix<double>(n, n), {}};
  std::uint64_t at = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index d = 0; d < dimensions; ++d) data.x(i, d) = random.normal(at++);
    data.labels.push_back(data.x(i, 0) + 0.8 * random.normal(at++) > 0 ? 1 : -1);
  }
  data.labels[0] = 1;
  if (n > 1) data.labels[1] = -1;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (Index d = 0; d < dimensions; ++d) data.gram(i, j) += data.x(i, d) * data.x(j, d);
    }
  }
  return data;
}

enum class DualOf { svm, squared, regression };

BoxProblem dual_problem(const FlatData& data, DualOf kind, double bound, bool equality) {
  BoxProblem problem;
  problem.equality = equality;
  problem.classifies = kind != DualOf::regression;
  if (kind == DualOf::regression) problem.epsilon = 0.3;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const double y = data.labels[i];
    const double cap = kind == DualOf::squared ? no_bound : bound * (1 + static_cast<double>(i % 3));
    problem.linear.push_back(kind == DualOf::regression ? -y * std::sqrt(static_cast<double>(i)) : -y);
    problem.lower.push_back(kind == DualOf::regression || y < 0 ? -cap : 0);
    problem.upper.push_back(kind == DualOf::regression || y > 0 ? cap : 0);
    if (kind == DualOf::squared) problem.ridge.push_back(1 / (2 * bound));
  }
  return problem;
}

/// Returns D(a) by its definition.
double dual_value(const FlatData& data, const BoxProblem& problem, const std::vector<double>& a) {
  double value = 0;
  for (Index d = 0; d < data.x.cols(); ++d) {
    double w = 0;
    for (Index i = 0; i < data.x.rows(); ++i) w += data.x(i, d) * a[usize(i)];
    value += w * w / 2;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    value += problem.ridge_at(static_cast<Index>(i)) * a[i] * a[i] / 2 + problem.linear[i] * a[i];
    value += problem.epsilon * std::abs(a[i]);
  }
  return value;
}

TEST(PartialFactor, FindsTheRankAndNoMore) {
  const FlatData data = flat_data(37, 5, 1);
  const GramMatrix k(data.gram.view());
  GramColumns<double> columns(k);
  PartialFactor<double> factor(columns);
  Index callbacks = 0;
  factor.extend(3, [&] { ++callbacks; });
  EXPECT_EQ(factor.rank(), 3);
  EXPECT_EQ(callbacks, 3);
  EXPECT_FALSE(factor.complete());
  factor.extend(37, [] {});
  EXPECT_EQ(factor.rank(), 5);
  EXPECT_TRUE(factor.complete());
  const Matrix<double> l = factor.rows();
  for (Index i = 0; i < 37; ++i) {
    for (Index j = 0; j < 37; ++j) {
      double sum = 0;
      for (Index d = 0; d < 5; ++d) sum += l(i, d) * l(j, d);
      EXPECT_NEAR(sum, data.gram(i, j), 1e-12 * 40);
    }
  }
}

TEST(PartialFactor, OfNothingHasNoColumns) {
  Matrix<double> zero(4, 4);
  const GramMatrix k(zero.view());
  GramColumns<double> columns(k);
  PartialFactor<double> factor(columns);
  factor.extend(4, [] {});
  EXPECT_EQ(factor.rank(), 0);
  EXPECT_TRUE(factor.complete());
}

TEST(InteriorPoint, HasTheMinimumOfWorkingSets) {
  for (const Index n : {1, 2, 37, 150}) {
    const FlatData data = flat_data(n, 3, 7);
    for (const DualOf kind : {DualOf::svm, DualOf::squared, DualOf::regression}) {
      for (const double bound : {1e-3, 1.0, 1e4}) {
        for (const bool equality : {false, true}) {
          if (n == 1 && equality) continue;  // only a = 0 is feasible
          const BoxProblem problem = dual_problem(data, kind, bound, equality);
          const BoxSolution known = BoxSolver(data.gram.view()).solve(problem, {.tolerance = 1e-10});
          const Engine& engine = all_processors();
          InteriorPoint point(problem, engine.algebra(), engine.algebra().copy_of(data.x.view()));
          int steps = 0;
          while (point.gap() > 1e-10 && steps < 100 && point.step()) ++steps;
          const std::vector<double> a = point.coefficients();
          double sum = 0;
          double size = 0;
          for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_TRUE(a[i] >= problem.lower[i] && a[i] <= problem.upper[i]);
            sum += a[i];
            size += std::abs(a[i]);
          }
          EXPECT_LE(equality ? std::abs(sum) : 0, 1e-12 * size);
          const double least = -known.objectives.dual;
          EXPECT_NEAR(dual_value(data, problem, a), least, 1e-7 * std::abs(least))
              << n << ' ' << static_cast<int>(kind) << ' ' << bound << ' ' << equality << ", steps " << steps;
        }
      }
    }
  }
}

TEST(InteriorPoint, ReplacesSlowWorkingSetsAndIsProved) {
  const FlatData data = flat_data(600, 6, 3);
  int equalities = 0;
  for (const DualOf kind : {DualOf::svm, DualOf::svm, DualOf::regression}) {
    const bool equality = equalities++ > 0;
    const BoxProblem problem = dual_problem(data, kind, 1e5, equality);
    const BoxSolution found = BoxSolver(data.gram.view()).solve(problem);
    EXPECT_TRUE(found.interior) << static_cast<int>(kind);
    EXPECT_EQ(found.rank, 6);
    EXPECT_EQ(found.ending, Ending::converged);
    EXPECT_LE(found.objectives.gap(), 1e-6);
    EXPECT_LT(found.iterations, 200'000);
    EXPECT_LE(-dual_value(data, problem, found.a) - found.objectives.dual, 1e-6 * found.objectives.primal);
  }
}

TEST(InteriorPoint, IsTakenForCopiesAndConstantSamples) {
  FlatData data = flat_data(400, 2, 5);
  for (Index i = 0; i < 400; ++i) {
    for (Index j = 0; j < 400; ++j) {
      // Every sample four times; the last fifth are identical constant samples.
      const Index a = i >= 320 ? -1 : i / 4;
      const Index b = j >= 320 ? -1 : j / 4;
      data.gram(i, j) = 1;
      for (Index d = 0; d < 2 && a >= 0 && b >= 0; ++d) data.gram(i, j) += data.x(a, d) * data.x(b, d);
    }
  }
  const BoxSolution found = BoxSolver(data.gram.view()).solve(dual_problem(data, DualOf::svm, 1e6, true));
  EXPECT_EQ(found.ending, Ending::converged);
  EXPECT_LE(found.objectives.gap(), 1e-6);
}

TEST(InteriorPoint, HasTheSameBitsOnAnyNumberOfThreads) {
  const FlatData data = flat_data(700, 9, 11);
  const SvmOptions options{.lambda = 1e-5, .bias = true};
  const auto one = make_engine("cpu", {.threads = 1});
  const auto two = make_engine("cpu", {.threads = 2});
  const Fit first = fit_svm({AnyView(data.gram.view()), *one}, data.labels, options);
  const Fit second = fit_svm({AnyView(data.gram.view()), *two}, data.labels, options);
  EXPECT_EQ(first.summary.method, "interior point on a low-rank factor");
  EXPECT_TRUE(std::equal(first.alpha.data(), first.alpha.data() + 700, second.alpha.data()));
  EXPECT_EQ(first.bias, second.bias);
}

/// (1 + ⟨x, x'⟩)⁴ with one sample 30 times as long as the others: its entries reach 10¹², and the noise of its own
/// gradient must not stop the steps of the others.
TEST(InteriorPoint, SolvesBesideAnOutlier) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    FlatData data = flat_data(400, 3, seed);
    double length = 0;
    for (Index d = 0; d < 3; ++d) length += std::pow(data.x(399, d), 2);
    for (Index d = 0; d < 3; ++d) data.x(399, d) *= 30 / std::sqrt(length);
    for (Index i = 0; i < 400; ++i) {
      for (Index j = 0; j < 400; ++j) {
        double product = 1;
        for (Index d = 0; d < 3; ++d) product += data.x(i, d) * data.x(j, d);
        data.gram(i, j) = std::pow(product, 4);
      }
    }
    for (const double lambda : {1e-2, 1e-3}) {
      const Fit fit = fit_svm(data.gram.view(), data.labels, {.lambda = lambda, .bias = true});
      EXPECT_TRUE(fit.summary.converged()) << seed << ' ' << lambda << ' ' << fit.summary.message;
    }
  }
}

TEST(InteriorPoint, LeavesKernelsOfFullRankAlone) {
  FlatData data = flat_data(300, 4, 13);
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < 300; ++j) {
      double square = 0;
      for (Index d = 0; d < 4; ++d) square += std::pow(data.x(i, d) - data.x(j, d), 2);
      data.gram(i, j) = std::exp(-std::sqrt(square));
    }
  }
  const BoxSolution found = BoxSolver(data.gram.view()).solve(dual_problem(data, DualOf::svm, 1e5, true));
  EXPECT_EQ(found.rank, 0);
  EXPECT_FALSE(found.interior);
  EXPECT_EQ(found.ending, Ending::converged);
}

}  // namespace
}  // namespace widelimit
