#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// Table cell: empty, text, a count or a measured number.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

/// Table with named columns, for pages and CSV files.
struct Table {
  std::vector<std::string> columns = {};
  std::vector<std::vector<Cell>> rows = {};
  std::string caption = {};

  /// Throws Error{usage} if a row and the header differ in length; Error{numerical} with row and column of a number
  /// that is not finite.
  void validate() const;
};

/// Formats a column, one string per row: measured numbers have the same number of decimals, so that decimal points
/// align, or all are in scientific notation if they span too many decades. The number smallest in magnitude keeps
/// `significant` digits.
[[nodiscard]] std::vector<std::string> column_text(const Table& table, std::size_t column, int significant = 4);

/// Returns whether all non-empty cells of the column are numbers.
[[nodiscard]] bool is_numeric(const Table& table, std::size_t column);

}  // namespace widelimit
