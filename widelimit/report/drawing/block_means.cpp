#include "widelimit/report/drawing/block_means.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

template <typename T>
double mean_of(MatrixView<const T> matrix, Index row, Index rows, Index col, Index cols) {
  // Divided before it is summed: entries near the largest double have a mean too.
  const double weight = 1.0 / (static_cast<double>(rows) * static_cast<double>(cols));
  double mean = 0.0;
  for (Index i = row; i < row + rows; ++i) {
    for (Index j = col; j < col + cols; ++j) {
      const auto value = static_cast<double>(matrix(i, j));
      if (!std::isfinite(value))
        fail(Code::numerical, "entry ({}, {}) of the matrix to draw is {}: a picture of it would mislead", i, j, value);
      mean += weight * value;
    }
  }
  return mean;
}

template <typename T>
Matrix<double> means_of(MatrixView<const T> matrix, Index edge) {
  const Index rows = std::min(matrix.rows, edge);
  const Index cols = std::min(matrix.cols, edge);
  Matrix<double> means(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    const Index top = i * matrix.rows / rows;
    const Index bottom = (i + 1) * matrix.rows / rows;
    for (Index j = 0; j < cols; ++j) {
      const Index left = j * matrix.cols / cols;
      const Index right = (j + 1) * matrix.cols / cols;
      means(i, j) = mean_of(matrix, top, bottom - top, left, right - left);
    }
  }
  return means;
}

}  // namespace

Matrix<double> block_means(MatrixView<const double> matrix, Index edge) { return means_of(matrix, edge); }
Matrix<double> block_means(MatrixView<const float> matrix, Index edge) { return means_of(matrix, edge); }

}  // namespace widelimit
