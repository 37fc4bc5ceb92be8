#include "widelimit/report/csv.hpp"

#include "widelimit/report/file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <type_traits>

namespace widelimit {
namespace {

/// Leading and trailing spaces are quoted, since many readers strip them otherwise.
std::string csv_word(std::string_view word, char separator) {
  const bool plain = word.find(separator) == std::string_view::npos &&
                     word.find_first_of("\"\r\n") == std::string_view::npos &&
                     (word.empty() || (word.front() != ' ' && word.back() != ' '));
  if (plain) return std::string(word);
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

std::string field(const Cell& cell, char separator) {
  if (const auto* word = std::get_if<std::string>(&cell)) return csv_word(*word, separator);
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *count);
  if (const auto* value = std::get_if<double>(&cell)) return fmt::format("{}", *value);
  return "";
}

}  // namespace

std::string to_csv(const Table& table, char separator) {
  table.validate();
  std::string text;
  const auto append = [&text, separator](std::size_t column, const std::string& written) {
    if (column > 0) text += separator;
    text += written;
  };
  for (std::size_t j = 0; j < table.columns.size(); ++j) append(j, csv_word(table.columns[j], separator));
  text += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t j = 0; j < row.size(); ++j) append(j, field(row[j], separator));
    text += '\n';
  }
  return text;
}

void write_csv(const Table& table, const std::filesystem::path& path) { write_atomically(path, to_csv(table)); }

bool is_table_file(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".csv" || ending == ".tsv" || ending == ".json";
}

void write_table(const Table& table, const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  write_atomically(path, ending == ".json" ? to_json_rows(table) : to_csv(table, ending == ".tsv" ? '\t' : ','));
}

std::string to_json_rows(const Table& table) {
  table.validate();
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json entry;
    for (std::size_t j = 0; j < row.size(); ++j) {
      std::visit(
          [&](const auto& cell) {
            if constexpr (std::is_same_v<std::decay_t<decltype(cell)>, std::monostate>) {
              entry[table.columns[j]] = nullptr;
            } else {
              entry[table.columns[j]] = cell;
            }
          },
          row[j]);
    }
    rows.push_back(std::move(entry));
  }
  return rows.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace widelimit
