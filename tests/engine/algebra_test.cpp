#include "widelimit/engine/algebra.hpp"

#include "tests/engine/algebra_of.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

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
  EXPECT_FALSE(rounded.invalid_entry.has_value());
  EXPECT_NE(algebra_.checksum(algebra_.hold(k.view())), sum);
  k(3, 60) += 1;
  EXPECT_EQ(algebra_.symmetry(algebra_.hold(k.view()), 1e-12).invalid_entry, std::pair(Index{3}, Index{60}));
  k(60, 3) = k(3, 60) = std::nan("");
  EXPECT_EQ(algebra_.symmetry(algebra_.hold(k.view()), 1e-12).invalid_entry, std::pair(Index{3}, Index{60}));
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

/// Sums without terms are 0 in both precisions.
TEST_P(AlgebraOf, MultipliesEmptyMatrices) {
  for (const Precision precision : {Precision::f64, Precision::f32}) {
    const EngineMatrix none = algebra_.allocate(0, 40, precision);
    const EngineMatrix narrow = algebra_.allocate(40, 0, precision);
    for (const Index count : {1, 3}) {
      const Matrix<double> v(0, count);
      Matrix<double> out = columns(40, count);
      algebra_.multiply(Transpose::yes, none, v.view(), out.view());
      for (Index k = 0; k < 40 * count; ++k) EXPECT_EQ(out.data()[k], 0);
      out = columns(40, count);
      algebra_.multiply(Transpose::no, narrow, v.view(), out.view());
      for (Index k = 0; k < 40 * count; ++k) EXPECT_EQ(out.data()[k], 0);
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
  // Catastrophic cancellation: only doubled precision recovers 1 among terms of 1e20.
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

/// A matrix passed as read-only stays unchanged: the cpu engine throws, others work on a copy.
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
