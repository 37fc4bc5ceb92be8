#include "widelimit/engine/cpu/algebra/tridiagonal.hpp"

#include "tests/machine/random_gram.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/cpu/algebra/pivoted_cholesky.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace widelimit::cpu {
namespace {

Matrix<double> copy_of(const Matrix<double>& a, double scale = 1) {
  Matrix<double> result(a.rows(), a.cols(), Content::unset);
  std::transform(a.data(), a.data() + a.rows() * a.cols(), result.data(), [&](double x) { return scale * x; });
  return result;
}

/// K = VᵀDV and VVᵀ = I, for sizes below, at and above one panel, and at both ends of the range of float64.
TEST(Tridiagonal, EigenvectorsGiveTheMatrixBack) {
  for (const Index n : {1, 2, 37, 129, 150, 203}) {
    const Matrix<double> k = random_gram(n, n + 3, static_cast<std::uint64_t>(n));
    for (const double scale : {1.0, 1e-200, 1e200}) {
      const TridiagonalForm form = tridiagonal_form(copy_of(k, scale), 2, nullptr);
      Matrix<double> v;
      const std::vector<double> values = eigenvectors(form, v, nullptr);
      const std::vector<double> alone = eigenvalues(form);
      double worst = 0;
      double skew = 0;
      for (Index i = 0; i < n; ++i) {
        EXPECT_NEAR(alone[usize(i)] / scale, values[usize(i)] / scale, 1e-12);
        for (Index j = 0; j < n; ++j) {
          double entry = 0;
          double inner = 0;
          for (Index e = 0; e < n; ++e) {
            entry += v(e, i) * (values[usize(e)] / scale) * v(e, j);
            inner += v(i, e) * v(j, e);
          }
          worst = std::max(worst, std::abs(entry - k(i, j)));
          skew = std::max(skew, std::abs(inner - (i == j ? 1 : 0)));
        }
      }
      EXPECT_LE(worst, 1e-12) << n << ' ' << scale;
      EXPECT_LE(skew, 1e-12) << n << ' ' << scale;
    }
  }
}

TEST(Tridiagonal, TakesAMatrixOfZeros) {
  Matrix<double> v;
  const TridiagonalForm form = tridiagonal_form(Matrix<double>(5, 5), 1, nullptr);
  for (const double value : eigenvectors(form, v, nullptr)) EXPECT_EQ(value, 0);
}

/// LLᵀ is K in the order of the pivots, which decrease, for any rank.
TEST(PivotedCholesky, GivesTheMatrixBack) {
  for (const Index n : {1, 2, 37, 64, 65, 150}) {
    for (const Index rank : {Index{1}, (n + 1) / 2, n}) {
      const Matrix<double> k = random_gram(n, rank, 5);
      Matrix<double> l = copy_of(k);
      std::vector<Index> order;
      const Index found = pivoted_cholesky(l.view(), 1e-10, order, 2, nullptr);
      EXPECT_EQ(found, rank) << n;
      std::vector<Index> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      for (Index i = 0; i < n; ++i) EXPECT_EQ(sorted[usize(i)], i);
      for (Index i = 0; i + 1 < found; ++i) EXPECT_GE(l(i, i), l(i + 1, i + 1));
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j <= i; ++j) {
          double sum = 0;
          for (Index e = 0; e < std::min({found, i + 1, j + 1}); ++e) sum += l(i, e) * l(j, e);
          EXPECT_NEAR(sum, k(order[usize(i)], order[usize(j)]), 1e-12) << n << ' ' << rank;
        }
      }
    }
  }
}

/// Both check for interruption before their first block.
TEST(PivotedCholesky, AndTheSpectrumStopWhenAsked) {
  struct StopProgress : Progress {
    bool update(std::int64_t, std::int64_t, std::string_view) override { return false; }
  } stop;
  std::vector<Index> order;
  EXPECT_THROW((void)pivoted_cholesky(copy_of(random_gram(80, 80)).view(), 0, order, 1, &stop), Error);
  EXPECT_THROW((void)tridiagonal_form(random_gram(200, 20), 1, &stop), Error);
  Matrix<double> v;
  EXPECT_THROW((void)eigenvectors(tridiagonal_form(random_gram(20, 20), 1, nullptr), v, &stop), Error);
}

}  // namespace
}  // namespace widelimit::cpu
