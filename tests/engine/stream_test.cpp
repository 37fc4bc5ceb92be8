#include "widelimit/engine/cpu/vector/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace widelimit::cpu {
namespace {

/// Unaligned windows of larger matrices: rows begin at every possible offset from a vector boundary, and nothing
/// outside the window may change.
template <typename T>
void check(Index rows, Index cols) {
  Matrix<T> from(rows + 2, cols + 5);
  for (Index k = 0; k < from.rows() * from.cols(); ++k) from.data()[k] = static_cast<T>(k + 1);
  const MatrixView<const T> window = std::as_const(from).view().block(1, 3, rows, cols);

  Matrix<T> copy(rows + 1, cols + 3);
  stream(window, copy.view().block(1, 2, rows, cols));
  Matrix<T> transposed(cols + 1, rows + 3);
  stream_transposed(window, transposed.view().block(1, 1, cols, rows));
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      ASSERT_EQ(copy(i + 1, j + 2), window(i, j));
      ASSERT_EQ(transposed(j + 1, i + 1), window(i, j));
    }
  }
  const auto written = [](const Matrix<T>& m) {
    return std::count_if(m.data(), m.data() + m.rows() * m.cols(), [](T value) { return value != 0; });
  };
  EXPECT_EQ(written(copy), rows * cols);
  EXPECT_EQ(written(transposed), rows * cols);
}

TEST(Stream, CopiesAndTransposesAnyWindow) {
  for (const Index rows : {0, 1, 2, 15, 16, 37, 300}) {
    for (const Index cols : {0, 1, 2, 8, 31, 64, 517}) {
      check<float>(rows, cols);
      check<double>(rows, cols);
    }
  }
}

}  // namespace
}  // namespace widelimit::cpu
