#include "widelimit/kernel/gram_matrix.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace widelimit {
namespace {

template <typename T>
Matrix<T> smooth_gram(Index n) {
  Matrix<T> k(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) k(i, j) = static_cast<T>(std::exp(-std::abs(static_cast<double>(i - j)) / 9));
  }
  return k;
}

template <typename T>
std::string complaint(const Matrix<T>& k, int threads = 0) {
  try {
    (void)GramMatrix(k.view(), *make_engine("cpu", {.threads = threads})).check();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input);
    return error.what();
  }
  return "";
}

template <typename T>
class CheckGram : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(CheckGram, Precisions);

TYPED_TEST(CheckGram, TakesSymmetricMatricesOfAnySize) {
  for (const Index n : {1, 2, 37, 200}) EXPECT_EQ(complaint(smooth_gram<TypeParam>(n)), "") << n;
  EXPECT_EQ(complaint(Matrix<TypeParam>(3, 3)), "");
}

TYPED_TEST(CheckGram, RefusesWhatIsNotSquareOrEmpty) {
  EXPECT_NE(complaint(Matrix<TypeParam>(2, 3)).find("2 by 3"), std::string::npos);
  EXPECT_NE(complaint(Matrix<TypeParam>(0, 0)).find("empty"), std::string::npos);
}

TYPED_TEST(CheckGram, NamesTheEntryThatIsNotFinite) {
  for (const auto bad : {std::numeric_limits<TypeParam>::quiet_NaN(), std::numeric_limits<TypeParam>::infinity()}) {
    for (const auto& [i, j] : {std::pair<Index, Index>{5, 90}, {90, 5}, {41, 41}}) {
      auto k = smooth_gram<TypeParam>(100);
      k(i, j) = bad;
      EXPECT_NE(complaint(k).find("entry (" + std::to_string(i) + ", " + std::to_string(j) + ")"), std::string::npos);
    }
    auto k = smooth_gram<TypeParam>(100);  // infinity in both triangles: their difference is NaN
    k(3, 4) = k(4, 3) = bad;
    EXPECT_NE(complaint(k).find("entry (3, 4)"), std::string::npos);
  }
}

TYPED_TEST(CheckGram, ToleratesRoundingAndNamesThePairBeyondIt) {
  auto k = smooth_gram<TypeParam>(100);
  const TypeParam epsilon = std::numeric_limits<TypeParam>::epsilon();
  k(70, 2) += 8 * epsilon;
  EXPECT_EQ(complaint(k), "");
  k(70, 2) += 1000 * epsilon;
  k(95, 80) += TypeParam(0.5);  // a later pair, which another thread may find first
  for (const int threads : {1, 2, 5}) {
    EXPECT_NE(complaint(k, threads).find("(2, 70)"), std::string::npos);
    EXPECT_NE(complaint(k, threads).find("(70, 2)"), std::string::npos);
  }
}

TEST(CheckGramScale, IsTakenFromTheDiagonal) {
  Matrix<double> k(2, 2);
  k(0, 0) = 1e200;
  k(1, 1) = 1e200;
  k(0, 1) = 1e180;
  k(1, 0) = -1e180;  // rounding relative to 1e200
  EXPECT_EQ(complaint(k), "");
  k(0, 0) = 1e-200;
  k(1, 1) = 1e-200;
  k(0, 1) = 1e-201;
  k(1, 0) = 1.1e-201;
  EXPECT_NE(complaint(k), "");
}

TYPED_TEST(CheckGram, TellsWhetherTheHalvesAreEqual) {
  auto k = smooth_gram<TypeParam>(100);
  EXPECT_EQ(GramMatrix(k).check(), 0);
  k(3, 90) += std::numeric_limits<TypeParam>::epsilon() * k(3, 90);
  EXPECT_EQ(GramMatrix(k).check(), 64 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()));
}

TEST(CheckGramRange, RefusesEntriesWhoseSumsLeaveFloat64) {
  Matrix<double> k(2, 2);
  k(0, 0) = k(1, 1) = 1e302;
  EXPECT_NE(complaint(k).find("divide the kernel"), std::string::npos);
}

TYPED_TEST(CheckGram, PartsAreThoseSamplesInThatOrder) {
  const Matrix<TypeParam> all = smooth_gram<TypeParam>(10);
  const GramMatrix k(all);
  const std::vector<std::vector<Index>> choices{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 4, 5}, {9}, {5, 4}, {0, 2, 4}, {}};
  for (const std::vector<Index>& rows : choices) {
    const GramMatrix square = k.part(rows);
    ASSERT_EQ(square.samples(), std::ssize(rows));
    for (const std::vector<Index>& cols : choices) {
      const EngineMatrix part = k.part(rows, cols);
      Matrix<double> entries(part.rows(), part.cols());
      k.algebra().read(part, entries.view());
      ASSERT_EQ(part.rows(), std::ssize(rows));
      ASSERT_EQ(part.cols(), std::ssize(cols));
      for (Index i = 0; i < part.rows(); ++i) {
        for (Index j = 0; j < part.cols(); ++j) EXPECT_EQ(entries(i, j), all(rows[usize(i)], cols[usize(j)]));
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(square.diagonal()[i], all(rows[i], rows[i]));
  }
}

TEST(GramPart, OfConsecutiveSamplesSharesTheEntries) {
  const Matrix<double> all = smooth_gram<double>(10);
  const GramMatrix k(all);
  const auto first_entry = [&](const GramMatrix& part) {
    return std::get<MatrixView<const double>>(*part.algebra().host_view(part.matrix())).row(0);
  };
  const std::vector<Index> middle{3, 4, 5}, within{1, 2}, apart{3, 5};
  EXPECT_EQ(first_entry(k.part(middle)), all.view().row(3) + 3);
  EXPECT_EQ(first_entry(k.part(middle).part(within)), all.view().row(4) + 4);
  EXPECT_NE(first_entry(k.part(apart)), all.view().row(3) + 3);
}

}  // namespace
}  // namespace widelimit
