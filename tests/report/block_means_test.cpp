#include "widelimit/report/drawing/figures.hpp"

#include "tests/base/normal_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit {
namespace {

Matrix<double> noise(Index rows, Index cols) { return normal_rows(rows, cols, 3); }

TEST(BlockMeans, SmallMatricesStayAsTheyAre) {
  for (const Index n : {1, 2, 37}) {
    const Matrix<double> matrix = noise(n, 3);
    const Matrix<double> means = block_means(matrix.view(), 37);
    ASSERT_EQ(means.rows(), n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < 3; ++j) EXPECT_EQ(means(i, j), matrix(i, j));
  }
}

TEST(BlockMeans, EqualBlocksKeepTheMean) {
  const Matrix<double> matrix = noise(74, 36);
  const Matrix<double> means = block_means(matrix.view(), 2);
  double whole = 0;
  for (Index k = 0; k < 74 * 36; ++k) whole += matrix.data()[k] / (74 * 36);
  EXPECT_NEAR((means(0, 0) + means(0, 1) + means(1, 0) + means(1, 1)) / 4, whole, 1e-13);
}

TEST(BlockMeans, UnequalBlocksCoverEveryEntryOnce) {
  Matrix<float> rows(7, 1);
  for (Index i = 0; i < 7; ++i) rows(i, 0) = static_cast<float>(i);
  const Matrix<double> means = block_means(rows.view(), 3);  // blocks {0,1}, {2,3}, {4,5,6}
  EXPECT_NEAR(means(0, 0), 0.5, 1e-15);
  EXPECT_NEAR(means(1, 0), 2.5, 1e-15);
  EXPECT_NEAR(means(2, 0), 5.0, 1e-14);
}

TEST(BlockMeans, LargestDoublesDoNotOverflow) {
  Matrix<double> matrix(4, 4);
  for (Index k = 0; k < 16; ++k) matrix.data()[k] = 1.7e308;
  EXPECT_NEAR(block_means(matrix.view(), 1)(0, 0) / 1.7e308, 1.0, 1e-14);
}

TEST(BlockMeans, NamesTheEntryThatIsNotFinite) {
  Matrix<float> matrix(3, 3);
  for (Index k = 0; k < 9; ++k) matrix.data()[k] = 1.0F;
  matrix(2, 1) = std::numeric_limits<float>::quiet_NaN();
  try {
    static_cast<void>(block_means(matrix.view(), 2));
    FAIL() << "a NaN was averaged";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
    EXPECT_NE(std::string(error.what()).find("(2, 1)"), std::string::npos);
  }
}

TEST(BlockMeans, EmptyStaysEmpty) { EXPECT_EQ(block_means(MatrixView<const double>{}, 5).rows(), 0); }

}  // namespace
}  // namespace widelimit
