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

/// Results in a CSV file that grows while an experiment runs. A run with the same file finds the rows of an earlier one
/// and computes what is missing.
class KeptRows {
 public:
  /// The first `keys` columns tell rows apart. Error{input} where the file is another table. Without a path rows are in
  /// memory alone.
  KeptRows(std::string path, std::vector<std::string> columns, std::size_t keys);

  /// The row of this key.
  [[nodiscard]] std::optional<std::size_t> find(std::span<const Cell> key) const;
  [[nodiscard]] const std::vector<Cell>& row(std::size_t row) const { return table_.rows[row]; }
  /// Error{input} names the row where its cell is not a number.
  [[nodiscard]] double number(std::size_t row, std::size_t column) const;
  [[nodiscard]] Index count(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::string text(std::size_t row, std::size_t column) const;

  /// Rows replace those of the same key; then the file is written, complete or not at all.
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
