#include "widelimit/engine/algebra.hpp"

#include "tests/engine/engines.hpp"
#include "tests/machine/random_gram.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace widelimit {
namespace {

constexpr double ulp = std::numeric_limits<double>::epsilon();

/// Every operation of the seam, on every engine, against its definition on the host.
class AlgebraOf : public testing::TestWithParam<std::string> {
 protected:
  AlgebraOf() : engine_(test::engine_named(GetParam())), algebra_(engine_->algebra()) {}

  [[nodiscard]] Matrix<double> host(const EngineMatrix& a) const {
    Matrix<double> result(a.rows(), a.cols());
    algebra_.read(a, result.view());
    return result;
  }
  /// A positive definite matrix with eigenvalues between about 1 and n.
  [[nodiscard]] static Matrix<double> definite(Index n) {
    Matrix<double> k = random_gram(n, n + 3);
    for (Index i = 0; i < n; ++i) k(i, i) += 1;
    return k;
  }
  [[nodiscard]] static Matrix<double> columns(Index n, Index count, std::uint64_t seed = 3) {
    Noise noise(seed);
    Matrix<double> v(n, count);
    for (Index i = 0; i < n * count; ++i) v.data()[i] = noise();
    return v;
  }

  std::unique_ptr<Engine> engine_;
  const Algebra& algebra_;
};

INSTANTIATE_TEST_SUITE_P(Engines, AlgebraOf,
                         testing::ValuesIn(test::engines_and_cuda({"cpu", "reference", "opaque", "emulated"})),
                         [](const auto& of) { return of.param; });

TEST_P(AlgebraOf, MovesMatricesAndTheirBlocks) {
  const Matrix<double> m = columns(7, 5);
  const EngineMatrix held = algebra_.hold(m.view());
  EngineMatrix own = algebra_.allocate(9, 8, Precision::f64);
  EngineMatrix place = own.block(1, 2, 7, 5);
  algebra_.copy(held, place);
  const Matrix<double> back = host(own.block(1, 2, 7, 5));
  for (Index i = 0; i < 7; ++i) {
    for (Index j = 0; j < 5; ++j) EXPECT_EQ(back(i, j), m(i, j));
  }
  const std::vector<Index> rows{6, 0, 0};
  const std::vector<Index> cols{4, 1};
  const Matrix<double> part = host(algebra_.gather(held, rows, cols));
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 2; ++j) EXPECT_EQ(part(i, j), m(rows[usize(i)], cols[usize(j)]));
  }
  EXPECT_EQ(algebra_.diagonal(held.block(0, 0, 5, 5))[3], m(3, 3));
  EngineMatrix single = algebra_.copy_of(held, Precision::f32);
  EXPECT_EQ(single.precision(), Precision::f32);
  EXPECT_NEAR(host(single)(6, 4), m(6, 4), 1e-7);
  EXPECT_EQ(algebra_.host_view(held).has_value(), GetParam() == "cpu");
}

TEST_P(AlgebraOf, SeesSymmetryAndWhatBreaksIt) {
  Matrix<double> k = definite(70);
  EXPECT_TRUE(algebra_.symmetry(algebra_.hold(k.view()), 1e-12).equal);
  const std::uint64_t sum = algebra_.checksum(algebra_.hold(k.view()));
  k(3, 60) += 1e-14;
  const Symmetry rounded = algebra_.symmetry(algebra_.hold(k.view()), 1e-12);
  EXPECT_FALSE(rounded.equal);
  EXPECT_FALSE(rounded.offender.has_value());
  EXPECT_NE(algebra_.checksum(algebra_.hold(k.view())), sum);
  k(3, 60) += 1;
  EXPECT_EQ(algebra_.symmetry(algebra_.hold(k.view()), 1e-12).offender, std::pair(Index{3}, Index{60}));
  k(60, 3) = k(3, 60) = std::nan("");
  EXPECT_EQ(algebra_.symmetry(algebra_.hold(k.view()), 1e-12).offender, std::pair(Index{3}, Index{60}));
}

TEST_P(AlgebraOf, MultipliesWithHostMatrices) {
  const Matrix<double> m = columns(300, 40);
  const EngineMatrix a = algebra_.hold(m.view());
  const EngineMatrix single = algebra_.copy_of(a, Precision::f32);
  for (const Transpose op : {Transpose::no, Transpose::yes}) {
    const Index inner = op == Transpose::no ? 40 : 300;
    const Index outer = op == Transpose::no ? 300 : 40;
    for (const Index count : {1, 3}) {
      const Matrix<double> v = columns(inner, count, 8);
      Matrix<double> plain(outer, count);
      Matrix<double> from_single(outer, count);
      Matrix<double> rough(outer, count);
      algebra_.multiply(op, a, v.view(), plain.view());
      algebra_.multiply(op, single, v.view(), from_single.view());
      algebra_.multiply_single(op, single, v.view(), rough.view());
      for (Index i = 0; i < outer; ++i) {
        for (Index c = 0; c < count; ++c) {
          long double sum = 0;
          long double size = 0;
          for (Index k = 0; k < inner; ++k) {
            const long double term = static_cast<long double>(op == Transpose::no ? m(i, k) : m(k, i)) * v(k, c);
            sum += term;
            size += std::abs(term);
          }
          const auto units = static_cast<double>(size) * static_cast<double>(inner);
          EXPECT_NEAR(plain(i, c), static_cast<double>(sum), units * ulp);
          EXPECT_NEAR(from_single(i, c), static_cast<double>(sum), static_cast<double>(size) * 1.2e-7);
          EXPECT_NEAR(rough(i, c), static_cast<double>(sum), units * 1.2e-7);
        }
      }
    }
  }
}

TEST_P(AlgebraOf, MultipliesItsMatrices) {
  for (const Transpose op_a : {Transpose::no, Transpose::yes}) {
    for (const Transpose op_b : {Transpose::no, Transpose::yes}) {
      const Matrix<double> a = op_a == Transpose::no ? columns(9, 37) : columns(37, 9);
      const Matrix<double> b = op_b == Transpose::no ? columns(37, 5, 8) : columns(5, 37, 8);
      const Matrix<double> before = columns(9, 5, 9);
      EngineMatrix c = algebra_.copy_of(before.view());
      algebra_.product(2, op_a, algebra_.hold(a.view()), op_b, algebra_.hold(b.view()), -3, c);
      const Matrix<double> after = host(c);
      for (Index i = 0; i < 9; ++i) {
        for (Index j = 0; j < 5; ++j) {
          long double sum = 0;
          long double size = 3 * std::abs(before(i, j));
          for (Index k = 0; k < 37; ++k) {
            const long double term = static_cast<long double>(op_a == Transpose::no ? a(i, k) : a(k, i)) *
                                     (op_b == Transpose::no ? b(k, j) : b(j, k));
            sum += term;
            size += 2 * std::abs(term);
          }
          EXPECT_NEAR(after(i, j), static_cast<double>(2 * sum - 3 * before(i, j)),
                      40 * ulp * static_cast<double>(size));
        }
      }
    }
  }
}

TEST_P(AlgebraOf, MultipliesPrecisely) {
  // Large parts cancel: only twice the digits find 1 among 1e20.
  const Index n = 40;
  Matrix<double> k(n, n);
  Matrix<double> v(n, 1);
  for (Index i = 0; i < n; ++i) {
    v(i, 0) = i % 2 == 0 ? 1e10 : -1e10;
    for (Index j = 0; j <= i; ++j) k(i, j) = k(j, i) = 1e10;
  }
  k(0, 0) += 1e-4;
  Matrix<double> out(n, 1);
  algebra_.multiply_precisely(algebra_.hold(k.view()), v.view(), out.view(), nullptr);
  EXPECT_DOUBLE_EQ(out(0, 0), (k(0, 0) - 1e10) * 1e10);
  EXPECT_EQ(out(5, 0), 0);
}

TEST_P(AlgebraOf, ScalesShiftsFactorsAndSolves) {
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
TEST_P(AlgebraOf, SolvesWithLargeTriangles) {
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
      // Rows of u/2 sum to 1 and little more: its inverse is below 3, and sums of 1,100 terms lose some ulps each.
      for (Index i = 0; i < n * count; ++i) {
        EXPECT_NEAR(b.data()[i], x.data()[i], 1e-12);
        EXPECT_NEAR(again.data()[i], x.data()[i], 1e-12);
      }
    }
  }
}

TEST_P(AlgebraOf, NamesTheFailingMinor) {
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

TEST_P(AlgebraOf, CountsSignsOfEigenvaluesOverPanels) {
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

/// An indefinite matrix of known condition κ: definite(n) less the middle of its spectrum. LDLᵀ with pivots is backward
/// stable up to growth of entries, which stays below 10 here: errors of solutions are a few n κ ε.
TEST_P(AlgebraOf, SolvesWithIndefiniteMatricesOverPanels) {
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
    // ‖A‖₂‖A⁻¹‖₂ ≤ n‖A‖₁‖A⁻¹‖₁, and the estimate of the latter is seldom below a third.
    const double estimate = Algebra::condition(*factor, algebra_.symmetric_norm(algebra_.copy_of(k.view())));
    EXPECT_GT(3 * static_cast<double>(n) * estimate, condition);
    EXPECT_LT(estimate, 1.01 * static_cast<double>(n) * condition);
  }
  EXPECT_EQ(algebra_.indefinite_factor(algebra_.allocate(0, 0, Precision::f64), nullptr)->inertia(), Inertia{});
}

TEST_P(AlgebraOf, SolvesWithAFloatFactor) {
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

TEST_P(AlgebraOf, MakesInnerProducts) {
  const Matrix<double> m = columns(50, 6);
  std::vector<double> weights(50);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = i % 3 == 0 ? -0.5 : 1.5;
  for (const Precision precision : {Precision::f64, Precision::f32}) {
    EngineMatrix x = algebra_.copy_of(algebra_.hold(m.view()), precision);
    const double allowed = precision == Precision::f64 ? 1e-13 : 1e-4;
    for (const bool weighed : {false, true}) {
      for (const bool whole : {false, true}) {
        EngineMatrix out = algebra_.allocate(6, 6, Precision::f64);
        algebra_.inner_product(x, weighed ? std::span<const double>(weights) : std::span<const double>(), whole, out);
        const Matrix<double> found = host(out);
        for (Index i = 0; i < 6; ++i) {
          for (Index j = whole ? 0 : i; j < 6; ++j) {
            double sum = 0;
            for (Index k = 0; k < 50; ++k) sum += m(k, i) * (weighed ? weights[usize(k)] : 1) * m(k, j);
            EXPECT_NEAR(found(i, j), sum, allowed);
          }
        }
      }
    }
    double squares = 0;
    for (Index k = 0; k < 50; ++k) squares += weights[usize(k)] * m(k, 2) * m(k, 2);
    EXPECT_NEAR(algebra_.column_squares(x, weights)[2], squares, allowed);
    algebra_.scale_rows(x, weights);
    EXPECT_NEAR(host(x)(3, 1), weights[3] * m(3, 1), 1e-6);
  }
}

TEST_P(AlgebraOf, FindsTheRankByPivots) {
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

TEST_P(AlgebraOf, HasEigenvectorsAndShiftedInverses) {
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

/// A matrix that was lent to be read stays as it is: the processor refuses, the others work on their copy.
TEST_P(AlgebraOf, NeverWritesToAMatrixThatIsHeld) {
  const Matrix<double> k = definite(5);
  EngineMatrix held = algebra_.hold(k.view());
  const std::vector<double> shift(5, 1.0);
  if (GetParam() == "cpu") {
    EXPECT_THROW(algebra_.add_to_diagonal(held, shift), Error);
    EXPECT_THROW((void)algebra_.cholesky(held, nullptr), Error);
  } else {
    algebra_.add_to_diagonal(held, shift);
  }
  EXPECT_EQ(k(2, 2), definite(5)(2, 2));
}

TEST_P(AlgebraOf, RefusesMatricesOfAnotherEngine) {
  const auto other = test::engine_named(GetParam() == "cpu" ? "reference" : "cpu");
  const Matrix<double> m = columns(3, 3);
  const EngineMatrix foreign = other->algebra().hold(m.view());
  EXPECT_THROW((void)algebra_.diagonal(foreign), Error);
  EXPECT_THROW((void)algebra_.diagonal(EngineMatrix()), Error);
}

}  // namespace
}  // namespace widelimit
