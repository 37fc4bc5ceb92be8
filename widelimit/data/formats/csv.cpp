#include "widelimit/data/formats/csv.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/data/formats/byte_stream.hpp"
#include "widelimit/data/formats/csv_rows.hpp"
#include "widelimit/data/formats/number.hpp"
#include "widelimit/data/labels.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

using Row = std::vector<std::string>;

constexpr Index no_label = -1;
/// A label as text, as a number, as a key and as a class, which are there at the same time.
constexpr double label_bytes = sizeof(std::string) + 3 * sizeof(double);

/// Which column holds the label, and whether the first row holds names.
struct Layout {
  Index label = no_label;
  bool header = false;
  Index columns = 0;

  [[nodiscard]] Index features() const { return columns - (label == no_label ? 0 : 1); }
};

bool is_number(const std::string& cell) { return parse_real(cell).has_value(); }

/// Features are numbers, so a first row without any is names. A row that mixes both is data with a bad cell: to
/// take it for a header would lose a sample without a word.
bool is_header(const Row& first, const Row* second, Index label) {
  bool some_text = false;
  bool some_number = false;
  for (Index j = 0; j < std::ssize(first); ++j) {
    const std::string& cell = first[static_cast<std::size_t>(j)];
    if (j == label || cell.empty()) continue;
    (is_number(cell) ? some_number : some_text) = true;
  }
  if (some_text) return !some_number;
  if (label == no_label || second == nullptr || label >= std::ssize(*second)) return false;
  const auto place = static_cast<std::size_t>(label);
  return !first[place].empty() && !is_number(first[place]) && is_number((*second)[place]);
}

Layout find_layout(const Row& first, const Row* second, const ReadOptions& options) {
  const Index columns = std::ssize(first);
  if (!options.label) {
    if (columns < 2) {
      fail(Code::input, "{}: only one column, which would be the label; ask for label \"none\" to read it as a feature",
           options.source);
    }
    return {columns - 1, is_header(first, second, columns - 1)};
  }
  const auto named = std::find(first.begin(), first.end(), *options.label);
  if (named != first.end() && !is_number(*named)) return {named - first.begin(), true};
  if (*options.label == "none") return {no_label, is_header(first, second, no_label)};
  const auto number = column_number(*options.label, columns);
  if (!number) {
    fail(Code::input, "{}: no label column '{}'; there are {} columns, the first line is: {}", options.source,
         *options.label, columns, fmt::join(first, ", "));
  }
  if (columns < 2) fail(Code::input, "{}: only the label column, no features", options.source);
  return {*number, is_header(first, second, *number)};
}

double feature(const std::string& cell, const CsvRows& rows, std::size_t column, const ReadOptions& options) {
  const auto value = parse_real(cell);
  if (value && std::isfinite(*value)) return *value;
  if (cell.empty()) {
    fail(Code::input, "{}, line {}, column {}: empty cell; every feature must be a finite number", options.source,
         rows.line(), column + 1);
  }
  fail(Code::input, "{}, line {}, column {}: '{}' is not a finite number", options.source, rows.line(), column + 1,
       cell.substr(0, 40));
}

std::string label_cell(const std::string& cell, const CsvRows& rows, std::size_t column, const ReadOptions& options) {
  const auto value = parse_real(cell);
  if (cell.empty() || (value && !std::isfinite(*value))) {
    fail(Code::input, "{}, line {}, column {}: the label is {}; every row needs one (or ask for label \"none\")",
         options.source, rows.line(), column + 1, cell.empty() ? "missing" : "not finite");
  }
  return cell;
}

Layout read_layout(std::string_view text, char delimiter, const ReadOptions& options) {
  CsvRows rows(text, delimiter, options.source);
  if (!rows.next()) fail(Code::input, "{}: the table is empty", options.source);
  const Row first = rows.cells();
  const bool more = rows.next();
  Layout layout = find_layout(first, more ? &rows.cells() : nullptr, options);
  layout.columns = std::ssize(first);
  return layout;
}

/// Rows there can be: line ends, and a last row without one. Empty lines and quoted line ends make it larger than they
/// are.
Index most_rows(std::string_view text) {
  Index ends = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    ends += text[k] == '\n' || (text[k] == '\r' && (k + 1 == text.size() || text[k + 1] != '\n')) ? 1 : 0;
  }
  const bool last_ends = text.empty() || text.back() == '\n' || text.back() == '\r';
  return ends + (last_ends ? 0 : 1);
}

Matrix<double> first_rows(Matrix<double> all, Index count) {
  if (count == all.rows()) return all;
  Matrix<double> rows(count, all.cols(), Content::unset);
  std::copy_n(all.data(), count * all.cols(), rows.data());
  return rows;
}

}  // namespace

Dataset parse_csv(std::string_view text, const ReadOptions& options) {
  const char delimiter = detect_delimiter(text);
  const Layout layout = read_layout(text, delimiter, options);
  CsvRows rows(text, delimiter, options.source);
  const Index most = most_rows(text) - (layout.header ? 1 : 0);
  const double row_bytes =
      sizeof(double) * static_cast<double>(layout.features()) + (layout.label == no_label ? 0 : label_bytes);
  options.limits.require(static_cast<double>(text.size()) + static_cast<double>(most) * row_bytes, options.source);
  Matrix<double> values(most, layout.features(), Content::unset);
  std::vector<std::string> labels;
  if (layout.label != no_label) labels.reserve(static_cast<std::size_t>(most));
  ProgressTicker ticker(options.limits.progress, std::ssize(text), "B");
  Index count = 0;
  for (bool first = true; rows.next(); first = false) {
    const Row& cells = rows.cells();
    if (std::ssize(cells) != layout.columns) {
      fail(Code::input, "{}, line {}: {} columns, the first row has {}", options.source, rows.line(), cells.size(),
           layout.columns);
    }
    if (first && layout.header) continue;
    double* value = values.view().row(count++);
    for (std::size_t j = 0; j < cells.size(); ++j) {
      if (static_cast<Index>(j) == layout.label) {
        labels.push_back(label_cell(cells[j], rows, j, options));
      } else {
        *value++ = feature(cells[j], rows, j, options);
      }
    }
    ticker.at(rows.place());
  }
  if (count == 0) fail(Code::input, "{}: a header but no rows", options.source);

  Dataset data;
  data.name = options.source;
  data.shape = {1, 1, layout.features()};
  data.values = first_rows(std::move(values), count);
  if (layout.label != no_label) set_labels(data, labels, options.source);
  return data;
}

Dataset read_csv(const std::filesystem::path& path, const ReadOptions& options) {
  const Blob bytes = read_unpacked(path, options.limits);
  return parse_csv(as_text(bytes), options);
}

}  // namespace widelimit
