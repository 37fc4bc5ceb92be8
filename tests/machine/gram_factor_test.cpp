#include "widelimit/machine/factor/gram_factor.hpp"

#include "random_gram.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

/// L·(row j of L) equals column j of K; α of a random β gives Kα = Lβ; `pull` is the transpose of `values`.
void expect_factor(const Matrix<double>& k, Index rank) {
  const GramMatrix gram(k.view());
  const GramFactor factor(gram);
  const auto n = static_cast<std::size_t>(k.rows());
  ASSERT_EQ(factor.rank(), rank);
  EXPECT_TRUE(factor.complete());
  constexpr Index columns = 2;
  Noise noise(8);
  std::vector<double> r(n * columns);
  for (double& x : r) x = noise();
  std::vector<double> beta(static_cast<std::size_t>(rank * columns));
  std::vector<double> h(n * columns);
  std::vector<double> kr(n * columns);
  factor.pull(r.data(), beta.data(), columns);
  factor.values(beta.data(), h.data(), columns);
  gram.multiply(r.data(), kr.data(), columns);
  for (std::size_t i = 0; i < h.size(); ++i) EXPECT_NEAR(h[i], kr[i], 1e-11) << i;
  std::vector<double> alpha(n * columns);
  factor.coefficients(beta.data(), alpha.data(), columns);
  gram.multiply(alpha.data(), kr.data(), columns);
  for (std::size_t i = 0; i < h.size(); ++i) EXPECT_NEAR(h[i], kr[i], 1e-9) << i;
}

TEST(GramFactor, IsARootOfK) {
  for (const Index n : {1, 2, 37}) expect_factor(random_gram(n, n + 5), n);
  expect_factor(random_gram(37, 4), 4);
  expect_factor(Matrix<double>(3, 3), 0);
}

TEST(GramFactor, SeesNegativeEigenvalues) {
  Matrix<double> k = random_gram(10, 20);
  k(3, 3) -= 50;
  EXPECT_FALSE(GramFactor(GramMatrix(k.view())).complete());
  Matrix<double> swap(2, 2);
  swap(0, 1) = swap(1, 0) = 1;
  EXPECT_FALSE(GramFactor(GramMatrix(swap.view())).complete());
}

// Rounding to float32 makes zero eigenvalues negative, which is within the tolerance.
TEST(GramFactor, ForgivesTheRoundingOfItsPrecision) {
  const Matrix<double> k = random_gram(37, 4);
  Matrix<float> rounded(37, 37);
  std::copy_n(k.data(), 37 * 37, rounded.data());
  const GramFactor factor(GramMatrix(rounded.view()));
  EXPECT_TRUE(factor.complete());
  EXPECT_EQ(factor.rank(), 4);
}

}  // namespace
}  // namespace widelimit
