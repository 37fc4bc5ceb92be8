#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/types.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Non-owning matrix in compressed sparse row (CSR) format: entries offsets[i] … offsets[i + 1] − 1 of `columns` and
/// `values` belong to row i, in ascending column order. Other entries are 0.
struct SparseView {
  const std::int64_t* offsets = nullptr;  ///< size rows + 1
  const std::int32_t* columns = nullptr;
  const double* values = nullptr;
  Index rows = 0;
  Index cols = 0;

  struct Row {
    std::span<const std::int32_t> columns;
    std::span<const double> values;
    [[nodiscard]] std::size_t size() const { return columns.size(); }
  };

  [[nodiscard]] Row row(Index i) const {
    const std::size_t size = usize(offsets[i + 1] - offsets[i]);
    return {{columns + offsets[i], size}, {values + offsets[i], size}};
  }
  [[nodiscard]] SparseView part(Index begin, Index size) const {
    return {offsets + begin, columns, values, size, cols};
  }
  /// Number of stored entries.
  [[nodiscard]] Index stored() const { return rows > 0 ? offsets[rows] - offsets[0] : 0; }
  /// Number of stored entries of the longest row. O(rows).
  [[nodiscard]] Index longest_row() const;
  /// Throws Error{input} if offsets descend, or if columns are out of range, not ascending or duplicated within a row;
  /// `source` prefixes messages. O(stored).
  void validate(std::string_view source) const;
};

/// Bytes per stored entry: value and column.
inline constexpr std::size_t sparse_entry_bytes = sizeof(double) + sizeof(std::int32_t);

/// Owning CSR matrix; movable, not copyable.
class SparseMatrix {
 public:
  SparseMatrix() = default;
  /// Throws Error{input} as SparseView::validate, and if the lengths of the arrays do not match or there are too many
  /// columns.
  SparseMatrix(Index cols, std::vector<std::int64_t> offsets, std::vector<std::int32_t> columns,
               std::vector<double> values, std::string_view source = "sparse matrix");
  SparseMatrix(SparseMatrix&&) = default;
  SparseMatrix& operator=(SparseMatrix&&) = default;
  SparseMatrix(const SparseMatrix&) = delete;
  SparseMatrix& operator=(const SparseMatrix&) = delete;
  ~SparseMatrix() = default;

  /// Returns a copy of all rows, or of the chosen ones.
  [[nodiscard]] static SparseMatrix copy(const SparseView& rows);
  [[nodiscard]] static SparseMatrix gather(const SparseView& rows, std::span<const Index> chosen);
  /// Converts dense rows and drops zeros. Throws Error{input} if there are too many columns.
  template <std::floating_point T>
  [[nodiscard]] static SparseMatrix of(const MatrixView<const T>& rows);

  [[nodiscard]] Index rows() const { return offsets_.empty() ? 0 : std::ssize(offsets_) - 1; }  // empty if moved from
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index stored() const { return std::ssize(values_); }
  [[nodiscard]] SparseView view() const { return {offsets_.data(), columns_.data(), values_.data(), rows(), cols_}; }
  /// Mutable values of row i.
  [[nodiscard]] std::span<double> row_values(Index i) {
    return {values_.data() + offsets_[usize(i)], usize(offsets_[usize(i) + 1] - offsets_[usize(i)])};
  }

 private:
  std::vector<std::int64_t> offsets_{0};
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
  Index cols_ = 0;
};

/// Throws Error{input} if the number of columns exceeds the index type of sparse rows.
void require_sparse_columns(Index cols, std::string_view source);

/// Writes a row of `cols` numbers, zeros included.
template <std::floating_point T>
void expand(const SparseView::Row& row, Index cols, T* to) {
  std::fill_n(to, cols, T(0));
  for (std::size_t k = 0; k < row.size(); ++k) to[row.columns[k]] = static_cast<T>(row.values[k]);
}

/// Calls visit(a_c, b_c) for each column c that at least one of the rows stores, in ascending order.
template <typename Visit>
void each_of_both(const SparseView::Row& a, const SparseView::Row& b, const Visit& visit) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a.columns[i] == b.columns[j]) {
      visit(a.values[i++], b.values[j++]);
    } else if (a.columns[i] < b.columns[j]) {
      visit(a.values[i++], 0.0);
    } else {
      visit(0.0, b.values[j++]);
    }
  }
  for (; i < a.size(); ++i) visit(a.values[i], 0.0);
  for (; j < b.size(); ++j) visit(0.0, b.values[j]);
}

/// Returns a dense copy. Throws Error{resource} if it exceeds the available memory.
[[nodiscard]] Matrix<double> dense_copy(const SparseView& rows);

}  // namespace widelimit
