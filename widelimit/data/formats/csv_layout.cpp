#include "widelimit/data/formats/csv_layout.hpp"

#include "widelimit/base/utf8.hpp"
#include "widelimit/data/formats/number.hpp"
#include "widelimit/data/labels/labels.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace widelimit {

namespace {

using CsvRow = std::vector<std::string>;

bool is_number(const std::string& cell) { return parse_real(cell).has_value(); }

bool names_a_cell(const CsvRow& first, const std::string& name) {
  return !is_number(name) && std::find(first.begin(), first.end(), name) != first.end();
}

/// Returns whether a first row of texts could be a sample of a text-only table: it has repeated cells, or a cell equal
/// to the one below it.
bool could_be_sample(const CsvRow& first, const CsvRow& second) {
  if (first.size() != second.size() || std::any_of(second.begin(), second.end(), is_number)) return false;
  if (std::set<std::string>(first.begin(), first.end()).size() < first.size()) return true;
  for (std::size_t j = 0; j < first.size(); ++j) {
    if (first[j] == second[j]) return true;
  }
  return false;
}

/// Returns whether a row of cells other than the label counts 0, 1, 2, …, as programs name columns without names.
bool counts_columns(const CsvRow& row, Index label) {
  Index next = 0;
  for (Index j = 0; j < std::ssize(row); ++j) {
    if (j != label && row[usize(j)] != std::to_string(next++) && row[usize(j)] != std::to_string(j)) return false;
  }
  return true;
}

/// Returns whether the first of two rows holds the numbers of the columns. Rows of integers are not told apart from
/// samples, nor are fewer than three columns.
bool is_numbered_header(const CsvRow& first, const CsvRow& second, Index label) {
  constexpr Index few = 3;
  const bool labelled = label >= 0 && label < std::ssize(first);
  if (std::ssize(first) - (labelled ? 1 : 0) < few || !counts_columns(first, label)) return false;
  const bool named = labelled && (!is_number(first[usize(label)]) || first[usize(label)] == std::to_string(label));
  if (labelled && !named) return false;
  return std::any_of(second.begin(), second.end(), [](const std::string& cell) {
    const auto number = parse_real(cell);
    return number && *number != std::nearbyint(*number);
  });
}

/// Features are mostly numeric, so a first row without numbers is a header. A row that mixes both is data with an
/// invalid cell: treating it as a header would silently drop a sample.
bool is_header(const CsvRow& first, const CsvRow* second, Index label) {
  bool some_text = false;
  bool some_number = false;
  for (Index j = 0; j < std::ssize(first); ++j) {
    const std::string& cell = first[usize(j)];
    if (j == label || cell.empty()) continue;
    (is_number(cell) ? some_number : some_text) = true;
  }
  if (some_text) return !some_number && (second == nullptr || !could_be_sample(first, *second));
  if (second != nullptr && is_numbered_header(first, *second, label)) return true;
  if (label == CsvLayout::no_label || second == nullptr || label >= std::ssize(*second)) return false;
  return !first[usize(label)].empty() && !is_number(first[usize(label)]) && is_number((*second)[usize(label)]);
}

/// Returns the index of the cell that a header name or a number refers to.
Index cell_of(const std::string& name, const CsvRow& first, bool header, const std::string& what,
              const ReadOptions& options) {
  const auto named = std::find(first.begin(), first.end(), name);
  if (header && named != first.end()) {
    if (std::find(named + 1, first.end(), name) != first.end()) {
      fail(Code::input, "{}: the header has '{}' more than once; give the number of the column", options.source, name);
    }
    return named - first.begin();
  }
  if (const auto number = column_number(name, std::ssize(first))) return *number;
  fail(Code::input, "{}: no {} '{}'; there are {} columns, the first line is: {}", options.source, what, name,
       first.size(), fmt::join(first, ", "));
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t start = 0, end = 0; end != std::string::npos; start = end + 1) {
    end = text.find(',', start);
    parts.push_back(text.substr(start, end == std::string::npos ? end : end - start));
  }
  return parts;
}

/// Finds several label columns.
void find_outputs(CsvLayout& layout, const CsvRow& first, const CsvRow* second, bool names_columns,
                  const ReadOptions& options) {
  const std::vector<std::string> names = split_at_commas(*options.label);
  layout.header = names_columns || is_header(first, second, CsvLayout::no_label) ||
                  std::any_of(names.begin(), names.end(), [&](const auto& name) { return names_a_cell(first, name); });
  for (const std::string& name : names) {
    const Index place = cell_of(name, first, layout.header, "label column", options);
    if (layout.is_label(place)) fail(Code::usage, "label column '{}' is given twice", name);
    layout.table.outputs.push_back(
        {.name = layout.header ? printable(first[usize(place)]) : "", .place = place, .categories = {}, .fill = {}});
  }
}

void find_label(CsvLayout& layout, const CsvRow& first, const CsvRow* second, const ReadOptions& options) {
  const TableOptions& table = options.table;
  const auto any_named = [&](const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(), [&](const auto& name) { return names_a_cell(first, name); });
  };
  const bool names_columns = any_named(table.columns) || any_named(table.drop) || any_named(table.categorical);
  Index& label = layout.table.label_place;
  if (!options.label) {
    if (layout.table.cells < 2) {
      fail(Code::input, "{}: only one column, which would be the label; ask for label \"none\" to read it as a feature",
           options.source);
    }
    label = layout.table.cells - 1;
    layout.header = names_columns || is_header(first, second, label);
  } else if (names_a_cell(first, *options.label)) {
    layout.header = true;
    label = cell_of(*options.label, first, true, "label column", options);
  } else if (*options.label == "none") {
    layout.header = names_columns || is_header(first, second, CsvLayout::no_label);
  } else if (options.label->find(',') != std::string::npos) {
    find_outputs(layout, first, second, names_columns, options);
  } else {
    label = cell_of(*options.label, first, false, "label column", options);
    if (layout.table.cells < 2) fail(Code::input, "{}: only the label column, no features", options.source);
    layout.header = names_columns || is_header(first, second, label);
  }
}

CsvLayout new_layout(const CsvRow& first, const CsvRow* second, const ReadOptions& options) {
  CsvLayout layout;
  layout.table.cells = std::ssize(first);
  find_label(layout, first, second, options);
  const auto mark = [&](const std::vector<std::string>& names) {
    std::vector<bool> marked(first.size(), false);
    for (const std::string& name : names) marked[usize(cell_of(name, first, layout.header, "column", options))] = true;
    return marked;
  };
  const std::vector<bool> requested = mark(options.table.columns);
  const std::vector<bool> dropped = mark(options.table.drop);
  const std::vector<bool> categorical = mark(options.table.categorical);
  for (Index j = 0; j < layout.table.cells; ++j) {
    if (!layout.is_label(j) || !dropped[usize(j)]) continue;
    fail(Code::input, "{}: {} is the label and cannot be dropped; choose another label, or none", options.source,
         layout.header ? fmt::format("column '{}'", first[usize(j)]) : fmt::format("column {}", j + 1));
  }
  for (Index j = 0; j < layout.table.cells; ++j) {
    const bool chosen = options.table.columns.empty() || requested[usize(j)];
    if (layout.is_label(j) || dropped[usize(j)] || !chosen) continue;
    const std::string name = layout.header ? printable(first[usize(j)]) : "";
    layout.table.columns.push_back({.name = name, .place = j, .categories = {}, .fill = {}});
    layout.categorical.push_back(categorical[usize(j)]);
  }
  if (layout.table.columns.empty()) fail(Code::input, "{}: no column is left as a feature", options.source);
  if (layout.header && layout.labelled()) {
    layout.table.label = printable(first[usize(layout.table.label_place)]);
  }
  return layout;
}

/// Matches several labels by name; returns false if one is missing.
bool place_outputs(TableLayout& table, const CsvRow& names) {
  for (Column& column : table.outputs) {
    const auto found = std::find(names.begin(), names.end(), column.name);
    if (found == names.end()) return false;
    column.place = found - names.begin();
  }
  return true;
}

/// Matches columns by header name, in any order.
void place_by_name(CsvLayout& layout, const CsvRow& names, const ReadOptions& options) {
  layout.header = true;
  const std::string label = options.label.value_or(layout.table.label);
  layout.table.label_place = CsvLayout::no_label;
  const bool there = std::find(names.begin(), names.end(), label) != names.end();
  if (options.label || !place_outputs(layout.table, names)) layout.table.outputs.clear();
  if (label != "none" && !label.empty() && (there || label != layout.table.label)) {
    layout.table.label_place = cell_of(label, names, true, "label column", options);
  }
  std::vector<std::string> absent;
  std::vector<bool> used(names.size(), false);
  for (std::size_t j = 0; j < used.size(); ++j) used[j] = layout.is_label(static_cast<Index>(j));
  for (Column& column : layout.table.columns) {
    if (std::find(names.begin(), names.end(), column.name) == names.end()) {
      absent.push_back(column.name);
    } else {
      column.place = cell_of(column.name, names, true, "column", options);
      used[usize(column.place)] = true;
      if (column.place == layout.table.label_place) {
        fail(Code::input, "{}: column '{}' is requested as the label, but is needed as a feature", options.source,
             column.name);
      }
    }
  }
  if (!absent.empty()) {
    fail(Code::input, "{}: {} of the {} required columns are missing: {}; the first line is: {}", options.source,
         absent.size(), layout.table.columns.size(), fmt::join(absent, ", "), fmt::join(names, ", "));
  }
  std::vector<std::string> extra;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (!used[j]) extra.push_back(names[j]);
  }
  if (extra.empty()) return;
  layout.notes.push_back(fmt::format("{}: unused columns are ignored: {}", options.source, fmt::join(extra, ", ")));
}

/// Matches columns by position. The table has the same columns, or lacks the label, or has only the required columns in
/// order.
void place_by_number(CsvLayout& layout, const CsvRow& first, const CsvRow* second, const ReadOptions& options) {
  const auto cells = std::ssize(first);
  TableLayout& table = layout.table;
  const bool unlabelled = options.label == "none";
  Index label = unlabelled ? CsvLayout::no_label : table.label_place;
  if (options.label && !unlabelled) label = cell_of(*options.label, first, false, "label column", options);
  if (options.label || cells != table.cells) table.outputs.clear();
  if (cells == table.cells && (unlabelled || label == table.label_place)) {
    table.label_place = label;
  } else if (table.label_place != CsvLayout::no_label && cells == table.cells - 1 && !options.label) {
    for (Column& column : table.columns) column.place -= column.place > table.label_place ? 1 : 0;
    table.label_place = CsvLayout::no_label;
  } else {
    const bool named = options.label && !unlabelled;
    if (cells != std::ssize(table.columns) + (named ? 1 : 0)) {
      fail(Code::input, "{}: {} columns, but {} are required{}", options.source, cells, table.cells,
           table.label_place == CsvLayout::no_label ? "" : ", including the label");
    }
    table.label_place = named ? label : CsvLayout::no_label;
    Index next = 0;
    for (Column& column : table.columns) {
      if (next == table.label_place) ++next;
      column.place = next++;
    }
  }
  layout.header = is_header(first, second, table.label_place);
}

CsvLayout layout_like(const CsvRow& first, const CsvRow* second, const ReadOptions& options) {
  CsvLayout layout;
  layout.table = *options.like;
  CsvRow names;
  for (const std::string& cell : first) names.push_back(printable(cell));
  bool some_name = false;
  for (const Column& column : layout.table.columns) {
    layout.categorical.push_back(!column.categories.empty());
    some_name = some_name || names_a_cell(names, column.name);
  }
  const bool named = layout.table.named();
  // Names that are numbers, "0,1,2", make a header only where all of them occur.
  some_name = some_name || std::all_of(layout.table.columns.begin(), layout.table.columns.end(), [&](const Column& c) {
                return std::find(names.begin(), names.end(), c.name) != names.end();
              });
  if (named && (some_name || is_header(first, second, std::ssize(first) - 1))) {
    place_by_name(layout, names, options);
  } else {
    place_by_number(layout, first, second, options);
    if (named) {
      layout.notes.push_back(fmt::format("{}: it has no header; its columns are taken in the order: {}", options.source,
                                         fmt::join(layout.table.feature_names(), ", ")));
    }
  }
  layout.table.cells = std::ssize(first);
  return layout;
}

}  // namespace

bool CsvLayout::is_label(Index place) const {
  return place == table.label_place || std::any_of(table.outputs.begin(), table.outputs.end(),
                                                   [&](const Column& column) { return column.place == place; });
}

CsvLayout csv_layout(const CsvRow& first, const CsvRow* second, const ReadOptions& options) {
  const bool known = options.like != nullptr && !options.like->columns.empty();
  CsvLayout layout = known ? layout_like(first, second, options) : new_layout(first, second, options);
  layout.table.missing = options.table.missing;
  return layout;
}

}  // namespace widelimit
