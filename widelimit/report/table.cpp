#include "widelimit/report/table.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

/// Number format of one column.
struct NumberForm {
  bool scientific = false;
  int decimals = 0;
};

NumberForm form_of(const Table& table, std::size_t column, int significant) {
  double smallest = HUGE_VAL;
  double largest = 0.0;
  for (const auto& row : table.rows) {
    const auto* value = std::get_if<double>(&row[column]);
    if (value == nullptr || *value == 0.0) continue;
    smallest = std::min(smallest, std::fabs(*value));
    largest = std::max(largest, std::fabs(*value));
  }
  if (largest == 0.0) return {};
  const int low = static_cast<int>(std::floor(std::log10(smallest)));
  const int high = static_cast<int>(std::floor(std::log10(largest)));
  const int decimals = std::max(0, significant - 1 - low);
  const bool readable = high <= 9 && low >= -5 && high + decimals <= 9;
  if (readable) return {.scientific = false, .decimals = decimals};
  return {.scientific = true, .decimals = significant - 1};
}

std::string cell_text(const Cell& cell, const NumberForm& form) {
  if (const auto* word = std::get_if<std::string>(&cell)) return *word;
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *count);
  if (const auto* value = std::get_if<double>(&cell))
    return form.scientific ? fmt::format("{:.{}e}", *value, form.decimals)
                           : fmt::format("{:.{}f}", *value, form.decimals);
  return "";
}

}  // namespace

void Table::validate() const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != columns.size())
      fail(Code::usage, "row {} of the table has {} cells under {} columns", i, rows[i].size(), columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const auto* value = std::get_if<double>(&rows[i][j]);
      if (value != nullptr && !std::isfinite(*value))
        fail(Code::numerical, "row {} of the table, column \"{}\": {} is not a finite number", i, columns[j], *value);
    }
  }
}

std::vector<std::string> column_text(const Table& table, std::size_t column, int significant) {
  const NumberForm form = form_of(table, column, significant);
  std::vector<std::string> texts;
  texts.reserve(table.rows.size());
  for (const auto& row : table.rows) texts.push_back(cell_text(row[column], form));
  return texts;
}

bool is_numeric(const Table& table, std::size_t column) {
  bool numbers = false;
  for (const auto& row : table.rows) {
    if (std::holds_alternative<std::string>(row[column])) return false;
    numbers = numbers || !std::holds_alternative<std::monostate>(row[column]);
  }
  return numbers;
}

}  // namespace widelimit
