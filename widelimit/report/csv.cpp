#include "widelimit/report/csv.hpp"

#include "widelimit/report/file.hpp"

#include <fmt/format.h>

#include <string_view>

namespace widelimit {
namespace {

/// Blanks at the ends are quoted too: many readers strip them otherwise.
std::string csv_word(std::string_view word) {
  const bool plain = word.find_first_of(",\"\r\n") == std::string_view::npos &&
                     (word.empty() || (word.front() != ' ' && word.back() != ' '));
  if (plain) return std::string(word);
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

std::string field(const Cell& cell) {
  if (const auto* word = std::get_if<std::string>(&cell)) return csv_word(*word);
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *count);
  if (const auto* value = std::get_if<double>(&cell)) return fmt::format("{}", *value);
  return "";
}

}  // namespace

std::string to_csv(const Table& table) {
  table.validate();
  std::string text;
  const auto append = [&text](std::size_t column, const std::string& written) {
    if (column > 0) text += ',';
    text += written;
  };
  for (std::size_t j = 0; j < table.columns.size(); ++j) append(j, csv_word(table.columns[j]));
  text += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t j = 0; j < row.size(); ++j) append(j, field(row[j]));
    text += '\n';
  }
  return text;
}

void write_csv(const Table& table, const std::filesystem::path& path) { write_atomically(path, to_csv(table)); }

}  // namespace widelimit
