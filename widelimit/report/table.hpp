#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// One cell: empty, text, a count or a measured number.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

/// Rows with named columns, for pages and CSV files.
struct Table {
  std::vector<std::string> columns = {};
  std::vector<std::vector<Cell>> rows = {};
  std::string caption = {};

  /// Error{usage} where a row has another length than the header; Error{numerical} names a number that is not
  /// finite by its row and column.
  void validate() const;
};

/// A column as text, one string per row: all measured numbers with the same number of decimals, so that their decimal
/// points align, or all in scientific notation where they span too many decades. The number smallest in magnitude keeps
/// `significant` digits.
[[nodiscard]] std::vector<std::string> column_text(const Table& table, std::size_t column, int significant = 4);

/// Whether all non-empty cells of the column are numbers.
[[nodiscard]] bool is_numeric(const Table& table, std::size_t column);

}  // namespace widelimit
