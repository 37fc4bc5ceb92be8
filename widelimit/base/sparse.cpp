#include "widelimit/base/sparse.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"

#include <limits>
#include <utility>

namespace widelimit {

Index SparseView::longest_row() const {
  Index longest = 0;
  for (Index i = 0; i < rows; ++i) longest = std::max<Index>(longest, offsets[i + 1] - offsets[i]);
  return longest;
}

void SparseView::validate(std::string_view source) const {
  require_sparse_columns(cols, source);
  for (Index i = 0; i < rows; ++i) {
    if (offsets[i + 1] < offsets[i]) fail(Code::input, "{}: the offsets descend at row {}", source, i + 1);
  }
  for (Index i = 0; i < rows; ++i) {
    Index previous = -1;
    for (const std::int32_t column : row(i).columns) {
      if (column < 0 || column >= cols) {
        fail(Code::input, "{}: row {} stores column {}, outside its {} columns", source, i, column, cols);
      }
      if (column == previous) fail(Code::input, "{}: row {} stores column {} twice", source, i, column);
      if (column < previous) fail(Code::input, "{}: row {} does not store its columns in order", source, i);
      previous = column;
    }
  }
}

SparseMatrix::SparseMatrix(Index cols, std::vector<std::int64_t> offsets, std::vector<std::int32_t> columns,
                           std::vector<double> values, std::string_view source)
    : offsets_(std::move(offsets)), columns_(std::move(columns)), values_(std::move(values)), cols_(cols) {
  const bool whole = !offsets_.empty() && offsets_.front() == 0 && offsets_.back() == std::ssize(values_);
  if (!whole || columns_.size() != values_.size()) {
    fail(Code::input, "{}: {} column indices and {} values do not match the offsets", source, columns_.size(),
         values_.size());
  }
  view().validate(source);
}

SparseMatrix SparseMatrix::copy(const SparseView& rows) {
  SparseMatrix result;
  result.cols_ = rows.cols;
  if (rows.rows == 0) return result;
  const std::int64_t first = rows.offsets[0];
  result.offsets_.resize(usize(rows.rows) + 1);
  for (Index i = 0; i <= rows.rows; ++i) result.offsets_[usize(i)] = rows.offsets[i] - first;
  result.columns_.assign(rows.columns + first, rows.columns + rows.offsets[rows.rows]);
  result.values_.assign(rows.values + first, rows.values + rows.offsets[rows.rows]);
  return result;
}

SparseMatrix SparseMatrix::gather(const SparseView& rows, std::span<const Index> chosen) {
  SparseMatrix result;
  result.cols_ = rows.cols;
  std::size_t stored = 0;
  for (const Index i : chosen) stored += rows.row(i).size();
  result.offsets_.reserve(chosen.size() + 1);
  result.columns_.reserve(stored);
  result.values_.reserve(stored);
  for (const Index i : chosen) {
    const SparseView::Row row = rows.row(i);
    result.columns_.insert(result.columns_.end(), row.columns.begin(), row.columns.end());
    result.values_.insert(result.values_.end(), row.values.begin(), row.values.end());
    result.offsets_.push_back(std::ssize(result.values_));
  }
  return result;
}

template <std::floating_point T>
SparseMatrix SparseMatrix::of(const MatrixView<const T>& rows) {
  require_sparse_columns(rows.cols, "samples");
  SparseMatrix result;
  result.cols_ = rows.cols;
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index j = 0; j < rows.cols; ++j) {
      if (rows(i, j) == 0) continue;
      result.columns_.push_back(static_cast<std::int32_t>(j));
      result.values_.push_back(static_cast<double>(rows(i, j)));
    }
    result.offsets_.push_back(std::ssize(result.values_));
  }
  return result;
}

template SparseMatrix SparseMatrix::of(const MatrixView<const float>&);
template SparseMatrix SparseMatrix::of(const MatrixView<const double>&);

void require_sparse_columns(Index cols, std::string_view source) {
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  if (cols < 0 || cols > most) {
    fail(Code::input, "{}: {} columns; sparse samples have at most {}", source, cols, most);
  }
}

Matrix<double> dense_copy(const SparseView& rows) {
  require_memory(sizeof(double) * static_cast<double>(rows.rows) * static_cast<double>(rows.cols), std::nullopt,
                 "the dense form of these sparse samples", "take fewer samples, or choose fewer features");
  Matrix<double> result(rows.rows, rows.cols, Content::unset);
  for (Index i = 0; i < rows.rows; ++i) expand(rows.row(i), rows.cols, result.view().row(i));
  return result;
}

}  // namespace widelimit
