#include "experiments/kernels/cached_rows.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/csv_rows.hpp"
#include "widelimit/report/csv.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

namespace widelimit::experiment {

namespace {

/// Returns a number if the whole text is one, else the text.
Cell cell_of(const std::string& text) {
  if (text.empty()) return {};
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end) return text;
  return value;
}

/// Returns the text of a cell; counts and numbers of equal value have the same text.
std::string text_of(const Cell& cell) {
  if (const auto* words = std::get_if<std::string>(&cell)) return *words;
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", static_cast<double>(*count));
  if (const auto* value = std::get_if<double>(&cell)) return fmt::format("{}", *value);
  return "";
}

}  // namespace

CachedRows::CachedRows(std::string path, std::vector<std::string> columns, std::size_t keys)
    : path_(std::move(path)), table_{.columns = std::move(columns)}, keys_(keys) {
  if (!path_.empty() && std::filesystem::exists(path_)) read();
}

void CachedRows::read() {
  const Blob bytes = read_file(path_);
  CsvRows rows(as_text(bytes), ',', path_);
  if (!rows.next() || rows.cells() != table_.columns) {
    fail(Code::input, "{} is not a table of this experiment; choose another file name", path_);
  }
  while (rows.next()) {
    if (rows.cells().size() != table_.columns.size()) {
      fail(Code::input, "{}, line {}: {} cells instead of {}", path_, rows.line(), rows.cells().size(),
           table_.columns.size());
    }
    std::vector<Cell> row;
    for (const std::string& cell : rows.cells()) row.push_back(cell_of(cell));
    put(std::move(row));
  }
}

std::string CachedRows::key_of(std::span<const Cell> row) const {
  std::string key;
  for (const Cell& cell : row.first(keys_)) key += text_of(cell) + '\n';
  return key;
}

void CachedRows::put(std::vector<Cell> row) {
  const auto [place, is_new] = places_.try_emplace(key_of(row), table_.rows.size());
  if (is_new) table_.rows.emplace_back();
  table_.rows[place->second] = std::move(row);
}

std::optional<std::size_t> CachedRows::find(std::span<const Cell> key) const {
  const auto place = places_.find(key_of(key));
  return place == places_.end() ? std::nullopt : std::optional(place->second);
}

double CachedRows::number(std::size_t row, std::size_t column) const {
  const Cell& cell = table_.rows[row][column];
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*count);
  if (const auto* value = std::get_if<double>(&cell)) return *value;
  fail(Code::input, "{}, row {}: '{}' in column '{}' is not a number", path_, row + 1, text_of(cell),
       table_.columns[column]);
}

Index CachedRows::count(std::size_t row, std::size_t column) const { return static_cast<Index>(number(row, column)); }

std::string CachedRows::text(std::size_t row, std::size_t column) const { return text_of(table_.rows[row][column]); }

void CachedRows::add(const std::vector<std::vector<Cell>>& rows) {
  for (const std::vector<Cell>& row : rows) put(row);
  if (!path_.empty()) write_csv(table_, path_);
}

}  // namespace widelimit::experiment
