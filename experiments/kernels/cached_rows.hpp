#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/report/table.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit::experiment {

/// Results in a CSV file that is updated while an experiment runs. A run with the same file reuses existing rows and
/// computes only the missing ones.
class CachedRows {
 public:
  /// The first `keys` columns identify a row. Throws Error{input} if the file has other columns. Without a path, rows
  /// are kept only in memory.
  CachedRows(std::string path, std::vector<std::string> columns, std::size_t keys);

  /// Returns the index of the row with this key, or std::nullopt.
  [[nodiscard]] std::optional<std::size_t> find(std::span<const Cell> key) const;
  [[nodiscard]] const std::vector<Cell>& row(std::size_t row) const { return table_.rows[row]; }
  /// Returns a numeric cell. Throws Error{input} with the row if the cell is not a number.
  [[nodiscard]] double number(std::size_t row, std::size_t column) const;
  [[nodiscard]] Index count(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::string text(std::size_t row, std::size_t column) const;

  /// Adds rows, replacing those with the same key, and writes the file atomically.
  void add(const std::vector<std::vector<Cell>>& rows);
  [[nodiscard]] const Table& table() const { return table_; }

 private:
  void read();
  void put(std::vector<Cell> row);
  [[nodiscard]] std::string key_of(std::span<const Cell> row) const;

  std::string path_;
  Table table_;
  std::size_t keys_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace widelimit::experiment
