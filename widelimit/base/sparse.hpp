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

/// Rows of which most numbers are 0, borrowed (compressed sparse rows): what is stored of row i lies at offsets[i] …
/// offsets[i + 1] of `columns` and `values`, by ascending column. What is not stored is 0.
struct SparseView {
  const std::int64_t* offsets = nullptr;  ///< rows + 1
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
  /// Numbers that are stored.
  [[nodiscard]] Index stored() const { return rows > 0 ? offsets[rows] - offsets[0] : 0; }
  /// Numbers that the longest row stores.  O(rows).
  [[nodiscard]] Index longest_row() const;
  /// Error{input} for offsets that descend, and columns outside the matrix, out of order or twice in a row; `source`
  /// for messages.  O(stored).
  void validate(std::string_view source) const;
};

/// What a stored number takes: its value and its column.
inline constexpr std::size_t sparse_entry_bytes = sizeof(double) + sizeof(std::int32_t);

/// Owns its rows; moves, does not copy by accident.
class SparseMatrix {
 public:
  SparseMatrix() = default;
  /// Error{input} as SparseView::validate says, and for lists of different length or too many columns.
  SparseMatrix(Index cols, std::vector<std::int64_t> offsets, std::vector<std::int32_t> columns,
               std::vector<double> values, std::string_view source = "sparse matrix");
  SparseMatrix(SparseMatrix&&) = default;
  SparseMatrix& operator=(SparseMatrix&&) = default;
  SparseMatrix(const SparseMatrix&) = delete;
  SparseMatrix& operator=(const SparseMatrix&) = delete;
  ~SparseMatrix() = default;

  /// A copy of rows, all or those chosen.
  [[nodiscard]] static SparseMatrix copy(const SparseView& rows);
  [[nodiscard]] static SparseMatrix gather(const SparseView& rows, std::span<const Index> chosen);
  /// The numbers of dense rows that are not 0. Error{input} for too many columns.
  template <std::floating_point T>
  [[nodiscard]] static SparseMatrix of(const MatrixView<const T>& rows);

  [[nodiscard]] Index rows() const { return offsets_.empty() ? 0 : std::ssize(offsets_) - 1; }  // empty: moved from
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index stored() const { return std::ssize(values_); }
  [[nodiscard]] SparseView view() const { return {offsets_.data(), columns_.data(), values_.data(), rows(), cols_}; }
  /// The values of row i, to be written to.
  [[nodiscard]] std::span<double> row_values(Index i) {
    return {values_.data() + offsets_[usize(i)], usize(offsets_[usize(i) + 1] - offsets_[usize(i)])};
  }

 private:
  std::vector<std::int64_t> offsets_{0};
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
  Index cols_ = 0;
};

/// Error{input} where rows of so many columns cannot be held sparse.
void require_sparse_columns(Index cols, std::string_view source);

/// All numbers of a row, `cols` of them.
template <std::floating_point T>
void expand(const SparseView::Row& row, Index cols, T* to) {
  std::fill_n(to, cols, T(0));
  for (std::size_t k = 0; k < row.size(); ++k) to[row.columns[k]] = static_cast<T>(row.values[k]);
}

/// visit(a_c, b_c) for the columns c that one of two rows stores, in ascending order.
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

/// The same numbers, all of them. Error{resource} where they would take more memory than there is.
[[nodiscard]] Matrix<double> dense_copy(const SparseView& rows);

}  // namespace widelimit
