#include "widelimit/data/table.hpp"

#include "widelimit/base/choice.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 4> missing_names{"refuse", "drop", "mean", "median"};

void check_fill(const Column& column) {
  if (!column.fill) return;
  const double fill = *column.fill;
  const bool of_category =
      fill >= 0 && fill < static_cast<double>(column.categories.size()) && fill == std::floor(fill);
  if (!std::isfinite(fill) || (!column.categories.empty() && !of_category)) {
    fail(Code::input, "column '{}' has the invalid fill value {}", column.name, fill);
  }
}

}  // namespace

std::string_view to_string(Missing missing) { return missing_names[static_cast<std::size_t>(missing)]; }

Missing parse_missing(std::string_view text) {
  return parse_choice<Missing>("treatment of missing values", missing_names, text);
}

void TableOptions::validate() const {
  for (const std::string& name : drop) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) continue;
    fail(Code::usage, "column '{}' is both selected and dropped", name);
  }
}

Index TableLayout::features() const {
  Index sum = 0;
  for (const Column& column : columns) sum += column.features();
  return sum;
}

bool TableLayout::named() const {
  std::set<std::string_view> names;
  for (const Column& column : columns) {
    if (column.name.empty() || !names.insert(column.name).second) return false;
  }
  return !columns.empty();
}

std::vector<std::string> TableLayout::feature_names() const {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    const std::string name = column.name.empty() ? fmt::format("column {}", column.place + 1) : column.name;
    if (column.categories.empty()) names.push_back(name);
    for (const std::string& category : column.categories) names.push_back(fmt::format("{}={}", name, category));
  }
  return names;
}

void TableLayout::validate() const {
  const auto inside = [&](Index place) { return place >= 0 && place < cells; };
  for (const Column& column : columns) {
    if (!inside(column.place))
      fail(Code::input, "the index of column '{}' is outside a row of {} cells", column.name, cells);
    check_fill(column);
  }
  for (const Column& column : outputs) {
    if (!inside(column.place))
      fail(Code::input, "the index of label '{}' is outside a row of {} cells", column.name, cells);
  }
  if (label_place != -1 && !inside(label_place))
    fail(Code::input, "the index of the label is outside a row of {} cells", cells);
}

}  // namespace widelimit
