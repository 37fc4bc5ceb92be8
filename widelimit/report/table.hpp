#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// One cell: nothing, a word, a count or a measured number.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

/// Rows under named columns: what a page shows and a CSV file keeps.
struct Table {
  std::vector<std::string> columns = {};
  std::vector<std::vector<Cell>> rows = {};
  std::string caption = {};

  /// Error{usage} where a row has another length than the header; Error{numerical} names a number that is not
  /// finite by its row and column.
  void validate() const;
};

/// A column as one reads it, one text per row: all its measured numbers with the same number of decimals, so that
/// their points stand under each other, or all in scientific form where they span too many decades. `significant`
/// digits are kept of the number smallest in size.
[[nodiscard]] std::vector<std::string> column_text(const Table& table, std::size_t column, int significant = 4);

/// Whether the column holds numbers and nothing else that is written.
[[nodiscard]] bool is_numeric(const Table& table, std::size_t column);

}  // namespace widelimit
