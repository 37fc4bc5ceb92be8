#include "widelimit/base/matrix.hpp"

#include "widelimit/base/transpose.hpp"

#include "widelimit/base/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace widelimit {
namespace {

TEST(Matrix, AwkwardSizes) {
  for (const Index rows : {0, 1, 2, 37}) {
    for (const Index cols : {0, 1, 2, 37}) {
      Matrix<double> matrix(rows, cols);
      EXPECT_EQ(matrix.rows(), rows);
      EXPECT_EQ(matrix.cols(), cols);
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < cols; ++j) matrix(i, j) = static_cast<double>(100 * i + j);
      }
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < cols; ++j) EXPECT_EQ(matrix.view()(i, j), static_cast<double>(100 * i + j));
      }
    }
  }
}

TEST(Matrix, IsAlignedForVectors) {
  for (const Index size : {1, 37, 2000}) {
    Matrix<float> matrix(size, size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(matrix.data()) % 64, 0U);
    matrix(size - 1, size - 1) = 1;
  }
}

TEST(Matrix, MovesItsMemory) {
  Matrix<double> first(2, 2);
  first(1, 1) = 5;
  const double* memory = first.data();
  Matrix<double> second = std::move(first);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(second(1, 1), 5);
}

TEST(Matrix, StartsAtZeroHoweverLarge) {
  for (const Index size : {1, 37, 1500}) {
    Matrix<double> matrix(size, size);
    for (Index k = 0; k < size * size; ++k) ASSERT_EQ(matrix.data()[k], 0);
  }
}

TEST(Matrix, TransposesAnySize) {
  for (const Index rows : {0, 1, 3, 4, 16, 37}) {
    for (const Index cols : {0, 1, 2, 5, 16, 37}) {
      Matrix<float> single(rows, cols);
      Matrix<double> twice(rows, cols);
      for (Index k = 0; k < rows * cols; ++k)
        single.data()[k] = static_cast<float>(k), twice.data()[k] = -static_cast<double>(k);
      Matrix<float> single_transposed(cols, rows);
      Matrix<double> twice_transposed(cols, rows);
      transpose(std::as_const(single).view(), single_transposed.view());
      transpose(std::as_const(twice).view(), twice_transposed.view());
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < cols; ++j) {
          EXPECT_EQ(single_transposed(j, i), single(i, j));
          EXPECT_EQ(twice_transposed(j, i), twice(i, j));
        }
      }
    }
  }
}

TEST(Matrix, MirrorsItsUpperTriangle) {
  Matrix<double> square(5, 5);
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 5; ++j) square(i, j) = static_cast<double>(10 * i + j);
  }
  mirror_upper(square.view());
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 5; ++j) EXPECT_EQ(square(i, j), static_cast<double>(10 * std::min(i, j) + std::max(i, j)));
  }
}

TEST(Matrix, BlocksAreWindows) {
  Matrix<double> matrix(5, 7);
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 7; ++j) matrix(i, j) = static_cast<double>(10 * i + j);
  }
  const MatrixView<double> block = matrix.view().block(2, 3, 2, 4);
  EXPECT_EQ(block.rows, 2);
  EXPECT_EQ(block.cols, 4);
  EXPECT_EQ(block(0, 0), 23);
  EXPECT_EQ(block(1, 3), 36);
  block(1, 0) = -1;
  EXPECT_EQ(matrix(3, 3), -1);
  const MatrixView<const double> constant = block;
  EXPECT_EQ(constant.block(1, 0, 1, 1)(0, 0), -1);
  EXPECT_EQ(constant.row(1), matrix.data() + 3 * 7 + 3);
}

TEST(Samples, ViewEitherPrecision) {
  const Matrix<float> single(3, 4);
  const AnyMatrix any = Matrix<double>(2, 4);
  EXPECT_EQ(SampleView(single.view(), Shape{1, 1, 4}).count(), 3);
  const SampleView view(any, {2, 2, 1});
  EXPECT_EQ(view.count(), 2);
  EXPECT_EQ(view.values.index(), 1U);
  EXPECT_EQ(view.shape.size(), 4);
}

}  // namespace
}  // namespace widelimit
