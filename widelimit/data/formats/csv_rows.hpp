#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Returns the most frequent of comma, semicolon and tab outside quotes in the first line, else a space.
[[nodiscard]] char detect_delimiter(std::string_view text);

/// Splits a delimited table into rows of cells. Quoted cells are unquoted; other cells are trimmed.
class CsvRows {
 public:
  CsvRows(std::string_view text, char delimiter, std::string source);

  /// Reads the next non-empty row; returns false at the end. Throws Error{input} if a quote is not closed.
  bool next();
  [[nodiscard]] const std::vector<std::string>& cells() const { return cells_; }
  /// Line number at which the row starts, from 1.
  [[nodiscard]] std::size_t line() const { return row_line_; }
  /// Number of bytes read.
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
