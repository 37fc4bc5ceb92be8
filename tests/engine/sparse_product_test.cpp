#include "widelimit/engine/host/sparse_product.hpp"

#include "tests/base/sparse_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// ⟨a_i, b_j⟩ and Σ|a_ik·b_jk|, in long double.
std::pair<long double, long double> inner(const Matrix<double>& a, Index i, const Matrix<double>& b, Index j) {
  long double sum = 0;
  long double size = 0;
  for (Index k = 0; k < a.cols(); ++k) {
    const long double term = static_cast<long double>(a(i, k)) * static_cast<long double>(b(j, k));
    sum += term;
    size += std::abs(term);
  }
  return {sum, size};
}

TEST(SparseProduct, IsTheProductOfDenseRows) {
  for (const double density : {0.0, 0.01, 0.3, 1.0}) {
    for (const Index d : {1, 37, 2000}) {
      const SparseMatrix a = sparse_rows(37, d, density, 1);
      const SparseMatrix b = sparse_rows(5, d, density, 2);
      const Matrix<double> dense_a = dense_copy(a.view());
      const Matrix<double> dense_b = dense_copy(b.view());
      Matrix<double> out(37, 5, Content::unset);
      host::sparse_product(a.view(), b.view(), out.view());
      for (Index i = 0; i < 37; ++i) {
        for (Index j = 0; j < 5; ++j) {
          const auto [exact, size] = inner(dense_a, i, dense_b, j);
          // A sum of m terms in sequence has an error of at most m·eps of the sum of their magnitudes.
          EXPECT_LE(std::abs(static_cast<long double>(out(i, j)) - exact), static_cast<long double>(d) * eps * size);
        }
      }
    }
  }
}

TEST(SparseProduct, DoesNotDependOnTheRowsBeside) {
  // More entries than one block, so that b is processed in several parts.
  const SparseMatrix a = sparse_rows(3, 3000, 0.9, 1);
  const SparseMatrix b = sparse_rows(300, 3000, 0.5, 2);
  Matrix<double> all(3, 300, Content::unset);
  Matrix<double> turned(300, 3, Content::unset);
  host::sparse_product(a.view(), b.view(), all.view());
  host::sparse_product(b.view(), a.view(), turned.view());
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 300; ++j) {
      EXPECT_EQ(all(i, j), turned(j, i));
      if (j % 50 != 7) continue;
      double alone = 0;
      host::sparse_product(a.view().part(i, 1), b.view().part(j, 1), MatrixView<double>{&alone, 1, 1, 1});
      EXPECT_EQ(all(i, j), alone);
    }
  }
}

TEST(SparseProduct, DistanceKeepsTheDigitsThatTheProductLoses) {
  const SparseMatrix a = SparseMatrix(10, {0, 2}, {1, 7}, {0.6, 0.8});
  const SparseMatrix b = SparseMatrix(10, {0, 3}, {1, 2, 7}, {0.6, 1e-9, 0.8});
  EXPECT_EQ(host::half_squared_distance(a.view().row(0), b.view().row(0), 1), 1e-9 * 1e-9 / 2);
  EXPECT_EQ(host::half_squared_distance(a.view().row(0), a.view().row(0), -1), (1.2 * 1.2 + 1.6 * 1.6) / 2);
}

}  // namespace
}  // namespace widelimit
