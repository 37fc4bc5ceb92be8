#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit::cpu {
namespace {

template <typename T>
Matrix<T> random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Matrix<T> m(rows, cols);
  const Random random(seed);
  for (Index i = 0; i < rows * cols; ++i) m.data()[i] = static_cast<T>(random.normal(static_cast<std::uint64_t>(i)));
  return m;
}

/// I + XᵀX/n for a random X of eight rows: condition number about 2.
template <typename T>
Matrix<T> definite_matrix(Index n, std::uint64_t seed) {
  constexpr Index rank = 8;
  const Matrix<T> x = random_matrix<T>(rank, n, seed);
  Matrix<T> a(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      long double sum = i == j ? 1 : 0;
      for (Index k = 0; k < rank; ++k) sum += static_cast<long double>(x(k, i)) * x(k, j) / static_cast<long double>(n);
      a(i, j) = static_cast<T>(sum);
    }
  }
  return a;
}

template <typename T>
class Tiled : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(Tiled, Numbers);

/// |UᵀU − A| ≤ (n + 2)·ε·|Uᵀ||U| (Higham, Theorem 10.3): n·ε of order one here. Sizes of one tile, several, and with
/// remainder.
TYPED_TEST(Tiled, CholeskyGivesTheMatrixBackAndTheSameBitsOnAnyTeam) {
  for (const Index n : {1, 37, 256, 300, 600}) {
    const Matrix<TypeParam> a = definite_matrix<TypeParam>(n, static_cast<std::uint64_t>(n));
    Matrix<TypeParam> u = a.copy();
    ASSERT_EQ(tiled_cholesky<TypeParam>(u.view(), nullptr, 1), 0);
    const double allowed = 8 * static_cast<double>(n + 2) * std::numeric_limits<TypeParam>::epsilon();
    for (Index i = 0; i < n; i += 5) {
      for (Index j = i; j < n; j += 3) {
        long double sum = 0;
        for (Index k = 0; k <= i; ++k) sum += static_cast<long double>(u(k, i)) * u(k, j);
        ASSERT_NEAR(static_cast<double>(sum), a(i, j), allowed) << n << ": " << i << ", " << j;
      }
    }
    for (const int threads : {2, 5}) {
      Matrix<TypeParam> again = a.copy();
      ASSERT_EQ(tiled_cholesky<TypeParam>(again.view(), nullptr, threads), 0);
      for (Index i = 0; i < n; ++i) {
        for (Index j = i; j < n; ++j) ASSERT_EQ(again(i, j), u(i, j));
      }
    }
  }
}

TYPED_TEST(Tiled, CholeskyNamesTheMinorThatFails) {
  for (const Index minor : {1, 200, 257, 512, 600}) {
    for (const int threads : {1, 3}) {
      Matrix<TypeParam> a = definite_matrix<TypeParam>(600, 7);
      a(minor - 1, minor - 1) = -1;
      EXPECT_EQ(tiled_cholesky<TypeParam>(a.view(), nullptr, threads), minor);
    }
  }
}

TYPED_TEST(Tiled, SolvesBothTriangles) {
  for (const Index n : {1, 256, 601}) {
    for (const Index columns : {1, 3, 300}) {
      Matrix<TypeParam> u = definite_matrix<TypeParam>(n, 3);
      ASSERT_EQ(tiled_cholesky<TypeParam>(u.view(), nullptr, 2), 0);
      const Matrix<TypeParam> b = random_matrix<TypeParam>(n, columns, 5);
      for (const Transpose op : {Transpose::no, Transpose::yes}) {
        Matrix<TypeParam> x = b.copy(), again = b.copy();
        tiled_solve<TypeParam>(u.view(), op, x.view(), 1);
        tiled_solve<TypeParam>(u.view(), op, again.view(), 4);
        const double allowed = 40 * static_cast<double>(n) * std::numeric_limits<TypeParam>::epsilon();
        for (Index i = 0; i < n; i += 3) {
          for (Index j = 0; j < columns; j += 37) {
            long double sum = 0;
            for (Index k = 0; k < n; ++k) {
              const bool inside = op == Transpose::no ? k >= i : k <= i;
              if (inside) sum += static_cast<long double>(op == Transpose::no ? u(i, k) : u(k, i)) * x(k, j);
            }
            ASSERT_NEAR(static_cast<double>(sum), b(i, j), allowed);
            ASSERT_EQ(x(i, j), again(i, j));
          }
        }
      }
    }
  }
}

TYPED_TEST(Tiled, MultipliesAllWays) {
  const Index m = 300, n = 270, inner = 90;
  for (const Transpose op_a : {Transpose::no, Transpose::yes}) {
    for (const Transpose op_b : {Transpose::no, Transpose::yes}) {
      const auto a =
          op_a == Transpose::no ? random_matrix<TypeParam>(m, inner, 1) : random_matrix<TypeParam>(inner, m, 1);
      const auto b =
          op_b == Transpose::no ? random_matrix<TypeParam>(inner, n, 2) : random_matrix<TypeParam>(n, inner, 2);
      const Matrix<TypeParam> start = random_matrix<TypeParam>(m, n, 3);
      Matrix<TypeParam> c = start.copy(), again = start.copy();
      tiled_product<TypeParam>(2, op_a, a.view(), op_b, b.view(), -1, c.view(), 1);
      tiled_product<TypeParam>(2, op_a, a.view(), op_b, b.view(), -1, again.view(), 3);
      for (Index i = 0; i < m; i += 13) {
        for (Index j = 0; j < n; j += 11) {
          long double sum = -static_cast<long double>(start(i, j));
          for (Index k = 0; k < inner; ++k) {
            sum += 2.0L * (op_a == Transpose::no ? a(i, k) : a(k, i)) * (op_b == Transpose::no ? b(k, j) : b(j, k));
          }
          ASSERT_NEAR(static_cast<double>(sum), c(i, j), 500 * std::numeric_limits<TypeParam>::epsilon());
          ASSERT_EQ(c(i, j), again(i, j));
        }
      }
    }
  }
}

TYPED_TEST(Tiled, MultipliesAMatrixByItself) {
  const Matrix<TypeParam> a = random_matrix<TypeParam>(70, 520, 1);
  Matrix<TypeParam> c(520, 520);
  c(3, 1) = 42;
  tiled_self_product<TypeParam>(1, a.view(), 0, c.view(), 2);
  EXPECT_EQ(c(3, 1), 42);  // the lower triangle is unchanged
  for (Index i = 0; i < 520; i += 17) {
    for (Index j = i; j < 520; j += 13) {
      long double sum = 0;
      for (Index k = 0; k < 70; ++k) sum += static_cast<long double>(a(k, i)) * a(k, j);
      ASSERT_NEAR(static_cast<double>(sum), c(i, j), 1000 * std::numeric_limits<TypeParam>::epsilon());
    }
  }
}

/// Sums of 2·5 products of normal numbers. The concurrent work sees the requested rows finished.
TEST(TiledRankTwo, UpdatesTheUpperTriangleAheadOfWorkBesideIt) {
  for (const Index n : {1, 37, 48, 300, 560}) {
    const Matrix<double> a = random_matrix<double>(5, n, 1), b = random_matrix<double>(5, n, 2);
    const Matrix<double> before = random_matrix<double>(n, n, 3);
    const auto expected = [&](Index i, Index j) {
      double sum = before(i, j);
      for (Index k = 0; k < 5; ++k) sum -= a(k, i) * b(k, j) + b(k, i) * a(k, j);
      return sum;
    };
    for (const Index ahead : {Index{0}, std::min<Index>(n, 48)}) {
      for (const int threads : {1, 3}) {
        Matrix<double> c = before.copy();
        int calls = 0;
        const auto beside = [&] {
          ++calls;
          for (Index i = 0; i < ahead; ++i) {
            for (Index j = i; j < n; ++j) EXPECT_NEAR(c(i, j), expected(i, j), 1e-13 * 64);
          }
        };
        tiled_rank_two_update(-1, a.view(), b.view(), c.view(), threads, ahead, beside);
        EXPECT_EQ(calls, 1);
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) {
            EXPECT_NEAR(c(i, j), i <= j ? expected(i, j) : before(i, j), 1e-13 * 64) << n << " " << i << " " << j;
          }
        }
      }
    }
  }
}

TEST(TiledCholesky, CanBeStopped) {
  struct StopProgress : Progress {
    bool update(std::int64_t, std::int64_t, std::string_view) override { return false; }
  } listener;
  Matrix<double> a = definite_matrix<double>(300, 1);
  for (const int threads : {1, 2}) {
    try {
      (void)tiled_cholesky<double>(a.view(), &listener, threads);
      FAIL() << "not stopped";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::interrupted);
    }
  }
}

}  // namespace
}  // namespace widelimit::cpu
