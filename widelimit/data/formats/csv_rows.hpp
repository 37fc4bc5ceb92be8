#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// The delimiter that the first line of a table has most of outside quotes: comma, semicolon or tab, else a space.
[[nodiscard]] char detect_delimiter(std::string_view text);

/// A delimited table cut into rows of cells. Cells keep their quotes' contents, unquoted ones lose outer blanks.
class CsvRows {
 public:
  CsvRows(std::string_view text, char delimiter, std::string source);

  /// Reads the next row that is not empty; false at the end. Error{input} where a quote never closes.
  bool next();
  [[nodiscard]] const std::vector<std::string>& cells() const { return cells_; }
  /// Line of the file where the row starts, from 1.
  [[nodiscard]] std::size_t line() const { return row_line_; }
  /// Bytes of the text that were read.
  [[nodiscard]] std::int64_t place() const { return static_cast<std::int64_t>(at_); }

 private:
  void read_row();
  void read_quoted(std::string& cell);
  void read_plain(std::string& cell);

  std::string_view text_;
  char delimiter_;
  std::string source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t row_line_ = 1;
  std::vector<std::string> cells_;
};

}  // namespace widelimit
