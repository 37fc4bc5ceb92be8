#include "tests/engine/algebra_of.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/progress.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace widelimit {
namespace {

/// Factors, solutions and spectra.
class FactorsOf : public AlgebraOf {};

INSTANTIATE_TEST_SUITE_P(Engines, FactorsOf,
                         testing::ValuesIn(test::engines_and_cuda({"cpu", "reference", "opaque", "emulated"})),
                         [](const auto& of) { return of.param; });

TEST_P(FactorsOf, ScalesShiftsFactorsAndSolves) {
  for (const Index n : {1, 2, 37, 200}) {
    const Matrix<double> k = definite(n);
    const EngineMatrix held = algebra_.hold(k.view());
    std::vector<double> scale(usize(n));
    for (Index i = 0; i < n; ++i) scale[usize(i)] = 1 + 0.5 * std::sin(static_cast<double>(i));
    const std::vector<double> shift(usize(n), 0.25);
    EngineMatrix u = algebra_.allocate(n, n, Precision::f64);
    const double norm = algebra_.scaled(held, scale, shift, u, nullptr);
    EXPECT_NEAR(norm, algebra_.symmetric_norm(u), 1e-12 * norm);
    const Matrix<double> a = host(u);
    ASSERT_EQ(algebra_.cholesky(u, nullptr), 0);
    const Matrix<double> x = columns(n, 2);
    Matrix<double> b(n, 2);
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < 2; ++c) {
        for (Index j = 0; j < n; ++j) b(i, c) += (j < i ? a(j, i) : a(i, j)) * x(j, c);
      }
    }
    algebra_.solve_factored(u, b.view());
    const double condition = algebra_.condition(u, norm);
    EXPECT_GE(condition, 1 - 1e-12);
    for (Index i = 0; i < 2 * n; ++i)
      EXPECT_NEAR(b.data()[i], x.data()[i], 20 * static_cast<double>(n) * condition * ulp);

    // The same factor as a lower triangle.
    EngineMatrix l = algebra_.copy_of(u, Precision::f64);
    algebra_.transpose_upper(l);
    const Matrix<double> triangle = host(l);
    for (Index i = 0; i + 1 < n; ++i) EXPECT_EQ(triangle(i, n - 1), 0);
    Matrix<double> y = columns(n, 2);
    algebra_.multiply_lower(Transpose::yes, l, y.view());
    algebra_.solve(Transpose::no, u, y.view());
    algebra_.multiply_lower(Transpose::no, l, y.view());
    algebra_.solve_lower(Transpose::no, l, y.view());
    const double few = 100 * static_cast<double>(n) * std::sqrt(condition) * ulp;
    for (Index i = 0; i < 2 * n; ++i) EXPECT_NEAR(y.data()[i], x.data()[i], few);
  }
}

/// Engines solve large triangles in blocks: one, few and many columns, by an upper and a lower triangle.
TEST_P(FactorsOf, SolvesWithLargeTriangles) {
  const Index n = 1100;
  Matrix<double> u(n, n);
  Noise noise(5);
  for (Index i = 0; i < n; ++i) {
    u(i, i) = 2;
    for (Index j = i + 1; j < n; ++j) u(i, j) = noise() / static_cast<double>(n);
  }
  const EngineMatrix upper = algebra_.copy_of(u.view());
  EngineMatrix lower = algebra_.copy_of(u.view());
  algebra_.transpose_upper(lower);
  for (const Index count : {1, 3, 20}) {
    for (const Transpose op : {Transpose::no, Transpose::yes}) {
      const Matrix<double> x = columns(n, count);
      Matrix<double> b(n, count);
      for (Index i = 0; i < n; ++i) {
        for (Index j = i; j < n; ++j) {
          for (Index c = 0; c < count; ++c) {
            if (op == Transpose::no) b(i, c) += u(i, j) * x(j, c);
            if (op == Transpose::yes) b(j, c) += u(i, j) * x(i, c);
          }
        }
      }
      Matrix<double> again(n, count);
      std::copy_n(b.data(), n * count, again.data());
      algebra_.solve(op, upper, b.view());
      algebra_.solve_lower(op == Transpose::no ? Transpose::yes : Transpose::no, lower, again.view());
      // Rows of u/2 sum to little more than 1: its inverse is below 3, and sums of 1,100 terms have errors of some
      // ulps.
      for (Index i = 0; i < n * count; ++i) {
        EXPECT_NEAR(b.data()[i], x.data()[i], 1e-12);
        EXPECT_NEAR(again.data()[i], x.data()[i], 1e-12);
      }
    }
  }
}

/// Engines factor large matrices in panels.
class PanelsOf : public AlgebraOf {
 protected:
  static constexpr Index n = 4300;
  /// e^{−|i−j|/50}, plus 1 on the diagonal: eigenvalues between 1 and about 101.
  PanelsOf() : k_(n, n, Content::unset) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) k_(i, j) = decay(i - j) + (i == j ? 1 : 0);
    }
  }
  [[nodiscard]] static double decay(Index distance) { return std::exp(-std::abs(static_cast<double>(distance)) / 50); }
  Matrix<double> k_;
};

INSTANTIATE_TEST_SUITE_P(Engines, PanelsOf, testing::ValuesIn(test::engines_and_cuda({"cpu"})),
                         [](const auto& of) { return of.param; });

TEST_P(PanelsOf, FactorAndSolve) {
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const EngineMatrix held = algebra_.copy_of(k_.view());
    EngineMatrix u = algebra_.copy_of(held, precision);
    ASSERT_EQ(algebra_.cholesky(u, nullptr), 0);
    const Matrix<double> x = columns(n, 2);
    Matrix<double> b(n, 2);
    algebra_.multiply(Transpose::no, held, x.view(), b.view());
    algebra_.solve_factored(u, b.view());
    const double few = precision == Precision::f32 ? 1e-3 : 1e-11;  // condition 101, sums of 4,300 terms
    for (Index i = 0; i < 2 * n; ++i) ASSERT_NEAR(b.data()[i], x.data()[i], few);
  }
}

TEST_P(PanelsOf, NameTheFailingMinor) {
  k_(3000, 3000) = -1;
  EngineMatrix a = algebra_.copy_of(k_.view());
  EXPECT_EQ(algebra_.cholesky(a, nullptr), 3001);
}

TEST_P(PanelsOf, StopWhereAsked) {
  class Stop final : public Progress {
    bool update(std::int64_t /*done*/, std::int64_t /*total*/, std::string_view /*unit*/) override { return false; }
  };
  Stop stop;
  EngineMatrix a = algebra_.copy_of(k_.view());
  EXPECT_THROW((void)algebra_.cholesky(a, &stop), Error);
}

TEST_P(FactorsOf, NamesTheFailingMinor) {
  Matrix<double> k = definite(50);
  k(30, 30) = -1;
  EngineMatrix a = algebra_.copy_of(k.view());
  EXPECT_EQ(algebra_.cholesky(a, nullptr), 31);
  EXPECT_EQ(algebra_.inertia(algebra_.copy_of(k.view())).negative, 1);
  EXPECT_EQ(algebra_.inertia(algebra_.copy_of(definite(50).view())), (Inertia{0, 0, 50}));
  Matrix<double> swap(2, 2);
  swap(0, 1) = swap(1, 0) = 1;
  EXPECT_EQ(algebra_.inertia(algebra_.copy_of(swap.view())), (Inertia{1, 0, 1}));
}

TEST_P(FactorsOf, CountsSignsOfEigenvaluesOverPanels) {
  for (const Index n : {1, 64, 65, 150}) {
    Matrix<double> k = definite(n);
    const std::vector<double> values = algebra_.eigenvalues(algebra_.copy_of(k.view()), nullptr);
    const double middle = n == 1 ? 0 : (values[usize(n / 3)] + values[usize(n / 3 - 1)]) / 2;
    for (Index i = 0; i < n; ++i) k(i, i) -= middle;
    const Inertia expected{n == 1 ? 0 : n / 3, 0, n == 1 ? 1 : n - n / 3};
    EXPECT_EQ(algebra_.inertia(algebra_.copy_of(k.view())), expected) << n;
  }
  EXPECT_EQ(algebra_.inertia(algebra_.allocate(0, 0, Precision::f64)), Inertia{});
  EXPECT_EQ(algebra_.inertia(algebra_.copy_of(Matrix<double>(70, 70).view())), (Inertia{0, 70, 0}));
}

/// Two zero rows and one negative eigenvalue, by interlacing: cuSOLVER may not factor the rows after a zero pivot.
TEST_P(FactorsOf, CountsSignsBehindZeroPivots) {
  for (const Index n : {5, 150}) {
    Matrix<double> k = definite(n);
    k(n - 1, n - 1) = -1000;
    for (const Index zero : {Index{0}, n / 2}) {
      for (Index i = 0; i < n; ++i) k(zero, i) = k(i, zero) = 0;
    }
    EXPECT_EQ(algebra_.inertia(algebra_.copy_of(k.view())), (Inertia{1, 2, n - 3})) << n;
  }
}

/// An indefinite matrix with known condition κ: definite(n) shifted by the middle of its spectrum. LDLᵀ with pivoting
/// is backward stable up to the growth of entries, which is below 10 here: errors of solutions are a few n κ ε.
TEST_P(FactorsOf, SolvesWithIndefiniteMatricesOverPanels) {
  for (const Index n : {1, 2, 64, 65, 150}) {
    Matrix<double> k = definite(n);
    std::vector<double> values = algebra_.eigenvalues(algebra_.copy_of(k.view()), nullptr);
    const Index below = n / 3;
    const double middle = below == 0 ? 0 : (values[usize(below)] + values[usize(below - 1)]) / 2;
    double least = std::numeric_limits<double>::infinity();
    for (double& value : values) least = std::min(least, std::abs(value -= middle));
    const double condition = std::max(std::abs(values.front()), std::abs(values.back())) / least;
    for (Index i = 0; i < n; ++i) k(i, i) -= middle;
    const auto factor = algebra_.indefinite_factor(algebra_.copy_of(k.view()), nullptr);
    EXPECT_EQ(factor->size(), n);
    EXPECT_EQ(factor->inertia(), (Inertia{below, 0, n - below})) << n;
    const Matrix<double> x = columns(n, 2);
    Matrix<double> b(n, 2);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        for (Index c = 0; c < 2; ++c) b(i, c) += k(i, j) * x(j, c);
      }
    }
    factor->solve(b.view());
    const double few = 100 * static_cast<double>(n) * condition * ulp;
    for (Index i = 0; i < 2 * n; ++i) EXPECT_NEAR(b.data()[i], x.data()[i], few) << n;
    // ‖A‖₂‖A⁻¹‖₂ ≤ n‖A‖₁‖A⁻¹‖₁, and the estimate of the latter is rarely below a third.
    const double estimate = Algebra::condition(*factor, algebra_.symmetric_norm(algebra_.copy_of(k.view())));
    EXPECT_GT(3 * static_cast<double>(n) * estimate, condition);
    EXPECT_LT(estimate, 1.01 * static_cast<double>(n) * condition);
  }
  EXPECT_EQ(algebra_.indefinite_factor(algebra_.allocate(0, 0, Precision::f64), nullptr)->inertia(), Inertia{});
}

TEST_P(FactorsOf, SolvesWithAFloatFactor) {
  const Index n = 60;
  const Matrix<double> k = definite(n);
  EngineMatrix u = algebra_.allocate(n, n, Precision::f32);
  (void)algebra_.scaled(algebra_.hold(k.view()), {}, {}, u, nullptr);
  ASSERT_EQ(algebra_.cholesky(u, nullptr), 0);
  Matrix<double> b(n, 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) b(i, 0) += 1e200 * k(i, j);
  }
  algebra_.solve_factored(u, b.view());
  for (Index i = 0; i < n; ++i) EXPECT_NEAR(b(i, 0) / 1e200, 1, 1e-3);
}

TEST_P(FactorsOf, FindsTheRankByPivots) {
  const Index n = 37;
  const Matrix<double> k = random_gram(n, 5);
  EngineMatrix a = algebra_.copy_of(k.view());
  std::vector<Index> order(usize(n));
  std::iota(order.begin(), order.end(), Index{0});
  ASSERT_EQ(algebra_.pivoted_cholesky(a, 1e-10, order, nullptr), 5);
  const Matrix<double> l = host(a.block(0, 0, n, 5));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index r = 0; r < 5; ++r) sum += l(i, r) * l(j, r);
      EXPECT_NEAR(sum, k(order[usize(i)], order[usize(j)]), 1e-11);
    }
  }
}

TEST_P(FactorsOf, HasEigenvectorsAndShiftedInverses) {
  const Index n = 40;
  const Matrix<double> k = definite(n);
  EngineMatrix vectors;
  const std::vector<double> values = algebra_.eigenvectors(algebra_.copy_of(k.view()), vectors, nullptr);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  const std::vector<double> alone = algebra_.eigenvalues(algebra_.copy_of(k.view()), nullptr);
  const Matrix<double> v = host(vectors);
  for (Index e = 0; e < n; ++e) {
    EXPECT_NEAR(values[usize(e)], alone[usize(e)], 1e-12 * values.back());
    for (Index i = 0; i < n; ++i) {
      double product = 0;
      for (Index j = 0; j < n; ++j) product += k(i, j) * v(e, j);
      EXPECT_NEAR(product, values[usize(e)] * v(e, i), 1e-11 * values.back());
    }
  }
  const auto family = algebra_.shifted_family(algebra_.copy_of(k.view()), nullptr);
  EXPECT_NEAR(family->smallest_eigenvalue(), values.front(), 1e-11 * values.back());
  const Matrix<double> b = columns(n, 2);
  const std::vector<double> shifts{0.5, -2 * values.front()};
  const std::vector<ShiftedInverse> inverses = family->inverses(b.view(), shifts, nullptr);
  EXPECT_FALSE(inverses[1].positive_definite);
  ASSERT_TRUE(inverses[0].positive_definite);
  for (Index i = 0; i < n; ++i) {
    double own = 0;
    for (Index e = 0; e < n; ++e) own += v(e, i) * v(e, i) / (values[usize(e)] + shifts[0]);
    EXPECT_NEAR(inverses[0].diagonal[usize(i)], own, 1e-12);
    double product = shifts[0] * inverses[0].solution(i, 1);
    for (Index j = 0; j < n; ++j) product += k(i, j) * inverses[0].solution(j, 1);
    EXPECT_NEAR(product, b(i, 1), 1e-11);
  }
}

}  // namespace
}  // namespace widelimit
