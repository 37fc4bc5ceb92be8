#include "widelimit/data/formats/csv.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/base/utf8.hpp"
#include "widelimit/data/formats/byte_stream.hpp"
#include "widelimit/data/formats/csv_layout.hpp"
#include "widelimit/data/formats/csv_rows.hpp"
#include "widelimit/data/formats/number.hpp"
#include "widelimit/data/labels/labels.hpp"
#include "widelimit/data/preparation/missing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace widelimit {

namespace {

/// Bytes per label: as text, number, key and class, which exist at the same time.
constexpr double label_bytes = sizeof(std::string) + 3 * sizeof(double);
/// A column with more distinct texts holds names or sentences, not categories.
constexpr std::size_t most_categories = 1000;
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

bool is_missing(const std::string& cell, const std::optional<double>& number) {
  constexpr std::array<std::string_view, 6> marks{"", "?", "NA", "N/A", "null", "NULL"};
  return number ? std::isnan(*number) : std::find(marks.begin(), marks.end(), cell) != marks.end();
}

std::string shown(const std::string& cell) { return printable(cell.substr(0, 40)); }

constexpr const char* write_numbers = "write numbers with a decimal point and without separators of thousands";

/// Parses the cells of one column: numbers, or texts, which are coded by order of first occurrence.
class CellReader {
 public:
  /// `settled`: the type and the categories of the column are known from an earlier table.
  CellReader(const Column& known, bool categorical, bool settled)
      : kind_(categorical ? Kind::text : (settled ? Kind::number : Kind::open)), settled_(settled) {
    for (const std::string& text : known.categories) codes_.emplace(text, static_cast<double>(codes_.size()));
  }

  /// Returns the value of a cell, whose number is given if it is numeric; `where` returns its position. Throws
  /// Error{input} if its type differs from that of earlier cells. Returns −1 for an unknown category.
  template <typename Where>
  double read(const std::string& cell, const std::optional<double>& number, const Where& where) {
    if (kind_ == Kind::open) {
      kind_ = number ? Kind::number : Kind::text;
      if (!number) first_text_ = fmt::format("{}: '{}'", where(), shown(cell));
    }
    if (kind_ == Kind::text) return code_of(cell, number.has_value(), where);
    if (!number) {
      fail(Code::input, {Remedy::choose_columns}, "{}: '{}' is not a finite number, as the other cells of the column",
           where(), shown(cell));
    }
    if (!std::isfinite(*number)) fail(Code::input, "{}: '{}' is not a finite number", where(), shown(cell));
    return *number;
  }

  /// Throws Error{input} if the texts of a new column are all numbers with commas: as categories they would be wrong
  /// without a sign of it.
  void check_texts() const {
    if (first_text_.empty() || settled_) return;
    if (!std::all_of(codes_.begin(), codes_.end(), [](const auto& code) { return has_number_comma(code.first); })) {
      return;
    }
    fail(Code::input, {Remedy::choose_columns}, "{} has a comma, like all cells of the column; {}", first_text_,
         write_numbers);
  }

  [[nodiscard]] bool texts() const { return kind_ == Kind::text; }
  [[nodiscard]] const std::map<std::string, double>& codes() const { return codes_; }
  [[nodiscard]] const std::map<std::string, Index>& unknown() const { return unknown_; }

 private:
  enum class Kind : std::uint8_t { open, number, text };

  template <typename Where>
  double code_of(const std::string& cell, bool number, const Where& where) {
    const std::string text = printable(cell);
    if (const auto found = codes_.find(text); found != codes_.end()) return found->second;
    if (settled_) {
      ++unknown_[text];
      return -1;
    }
    if (number && !first_text_.empty()) {
      fail(Code::input, {Remedy::choose_columns},
           "{} is not a finite number, but '{}' below it is; correct it, drop the column, or read it as categories",
           first_text_, shown(cell));
    }
    if (codes_.size() == most_categories) {
      fail(Code::input, {Remedy::choose_columns},
           "{}: more than {} different texts, too many for categories; drop the column", where(), most_categories);
    }
    return codes_.emplace(text, static_cast<double>(codes_.size())).first->second;
  }

  Kind kind_;
  bool settled_;
  std::string first_text_;  ///< first text with its position, if it made this a text column
  std::map<std::string, double> codes_;
  std::map<std::string, Index> unknown_;
};

/// Parsed cells of a table: for each row and column a number, a category code, or NaN.
struct CsvCells {
  Matrix<double> values;
  Index rows = 0;
  Index dropped = 0;
  std::vector<std::string> labels;
  std::vector<double> outputs;  ///< row-major, if there are several labels
  std::vector<CellReader> columns;
};

std::string place_text(const CsvRows& rows, const CsvLayout& layout, std::size_t column, const ReadOptions& options) {
  const std::string& name = layout.table.columns[column].name;
  return fmt::format("{}, line {}, column {}{}", options.source, rows.line(), layout.place(column) + 1,
                     name.empty() ? "" : fmt::format(" ('{}')", name));
}

double missing_cell(const CsvRows& rows, const CsvLayout& layout, std::size_t column, const ReadOptions& options) {
  if (options.table.missing != Missing::refuse) return no_value;
  const std::string& cell = rows.cells()[usize(layout.place(column))];
  fail(Code::input, {Remedy::treat_missing}, "{}: {}; every feature must have a value",
       place_text(rows, layout, column, options),
       cell.empty() ? std::string("empty cell") : fmt::format("'{}' is a missing value", shown(cell)));
}

/// Returns false if the row has no label and is to be dropped.
bool read_label(const CsvRows& rows, const CsvLayout& layout, const ReadOptions& options, CsvCells& cells) {
  if (!layout.labelled()) return true;
  const std::string& cell = rows.cells()[usize(layout.table.label_place)];
  const auto value = parse_real(cell);
  const bool missing = is_missing(cell, value);
  if (missing || (value && !std::isfinite(*value))) {
    if (missing && options.table.missing == Missing::drop) return false;
    const std::string what = !missing       ? fmt::format("the label '{}' is not finite", shown(cell))
                             : cell.empty() ? "the label is missing"
                                            : fmt::format("the label '{}' is a missing value", shown(cell));
    fail(Code::input, "{}, line {}, column {}: {}; every row needs one (or ask for label \"none\")", options.source,
         rows.line(), layout.table.label_place + 1, what);
  }
  cells.labels.push_back(cell);
  return true;
}

/// As read_label, for several numeric labels.
bool read_outputs(const CsvRows& rows, const CsvLayout& layout, const ReadOptions& options, CsvCells& cells) {
  std::vector<double> numbers;
  for (const Column& column : layout.table.outputs) {
    const std::string& cell = rows.cells()[usize(column.place)];
    const auto value = parse_real(cell);
    if (is_missing(cell, value) && options.table.missing == Missing::drop) return false;
    if (!value || !std::isfinite(*value)) {
      fail(Code::input, "{}, line {}, column {}: '{}' is not a finite number; several labels must be numeric",
           options.source, rows.line(), column.place + 1, shown(cell));
    }
    numbers.push_back(*value);
  }
  cells.outputs.insert(cells.outputs.end(), numbers.begin(), numbers.end());
  return true;
}

void read_row(const CsvRows& rows, const CsvLayout& layout, const ReadOptions& options, CsvCells& cells) {
  if (std::ssize(rows.cells()) != layout.table.cells) {
    fail(Code::input, "{}, line {}: {} columns, the first row has {}", options.source, rows.line(), rows.cells().size(),
         layout.table.cells);
  }
  double* value = cells.values.view().row(cells.rows);
  bool whole = true;
  for (std::size_t j = 0; j < layout.table.columns.size(); ++j) {
    const std::string& cell = rows.cells()[usize(layout.place(j))];
    const auto number = parse_real(cell);
    value[j] = is_missing(cell, number)
                   ? missing_cell(rows, layout, j, options)
                   : cells.columns[j].read(cell, number, [&] { return place_text(rows, layout, j, options); });
    whole = whole && !std::isnan(value[j]);
  }
  const bool kept = (whole || options.table.missing != Missing::drop) && read_label(rows, layout, options, cells) &&
                    read_outputs(rows, layout, options, cells);
  ++(kept ? cells.rows : cells.dropped);
}

CsvLayout read_layout(std::string_view text, char delimiter, const ReadOptions& options) {
  CsvRows rows(text, delimiter, options.source);
  if (!rows.next()) fail(Code::input, "{}: the table is empty", options.source);
  const std::vector<std::string> first = rows.cells();
  const bool more = rows.next();
  return csv_layout(first, more ? &rows.cells() : nullptr, options);
}

/// Returns an upper bound on the number of rows, from line ends; exact unless there are empty lines or quoted line
/// ends.
Index most_rows(std::string_view text) {
  Index ends = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    ends += text[k] == '\n' || (text[k] == '\r' && (k + 1 == text.size() || text[k + 1] != '\n')) ? 1 : 0;
  }
  const bool last_ends = text.empty() || text.back() == '\n' || text.back() == '\r';
  return ends + (last_ends ? 0 : 1);
}

/// Throws Error{input} if all labels are numbers and some have commas: they would become classes.
void check_labels(const std::vector<std::string>& labels, const CsvLayout& layout, const ReadOptions& options) {
  const auto with_comma = std::find_if(labels.begin(), labels.end(), has_number_comma);
  if (with_comma == labels.end() || !std::all_of(labels.begin(), labels.end(), [](const std::string& label) {
        return parse_real(label) || has_number_comma(label);
      })) {
    return;
  }
  fail(Code::input, "{}, column {}: the label '{}' has a comma; {}", options.source, layout.table.label_place + 1,
       shown(*with_comma), write_numbers);
}

CsvCells read_cells(std::string_view text, char delimiter, const CsvLayout& layout, const ReadOptions& options) {
  const Index most = most_rows(text) - (layout.header ? 1 : 0);
  const double row_bytes =
      sizeof(double) * static_cast<double>(layout.table.columns.size()) + (layout.labelled() ? label_bytes : 0);
  options.limits.require(static_cast<double>(text.size()) + static_cast<double>(most) * row_bytes, options.source);
  const bool settled = options.like != nullptr && !options.like->columns.empty();
  CsvCells cells;
  cells.values = Matrix<double>(most, std::ssize(layout.table.columns), Content::unset);
  for (std::size_t j = 0; j < layout.table.columns.size(); ++j) {
    cells.columns.emplace_back(layout.table.columns[j], layout.categorical[j], settled);
  }
  CsvRows rows(text, delimiter, options.source);
  ProgressTicker ticker(options.limits.progress, std::ssize(text), "B");
  for (bool first = true; rows.next(); first = false) {
    if (first && layout.header) continue;
    read_row(rows, layout, options, cells);
    ticker.at(rows.place());
  }
  if (cells.rows + cells.dropped == 0) fail(Code::input, "{}: the table has a header but no rows", options.source);
  if (cells.rows == 0) fail(Code::input, "{}: every row has a missing value; none is left", options.source);
  for (const CellReader& column : cells.columns) column.check_texts();
  check_labels(cells.labels, layout, options);
  return cells;
}

/// Sorts the categories of `column` and returns the position of each code in them.
std::vector<double> settle_categories(Column& column, const CellReader& reader) {
  std::vector<double> place(reader.codes().size());
  column.categories.clear();
  for (const auto& [text, code] : reader.codes()) {
    place[static_cast<std::size_t>(code)] = static_cast<double>(column.categories.size());
    column.categories.push_back(text);
  }
  return place;
}

/// Returns the features: numbers as they are, texts one-hot encoded.
Matrix<double> features_of(const CsvCells& cells, TableLayout& table, const ReadOptions& options) {
  std::vector<std::vector<double>> places(table.columns.size());
  for (std::size_t j = 0; j < places.size(); ++j) {
    if (cells.columns[j].texts()) places[j] = settle_categories(table.columns[j], cells.columns[j]);
  }
  options.limits.require(sizeof(double) * static_cast<double>(cells.rows) * static_cast<double>(table.features()),
                         options.source);
  Matrix<double> features(cells.rows, table.features());
  for (Index i = 0; i < cells.rows; ++i) {
    double* to = features.view().row(i);
    for (std::size_t j = 0; j < places.size(); ++j) {
      const double value = cells.values(i, static_cast<Index>(j));
      const Index width = table.columns[j].features();
      if (places[j].empty()) {
        *to = value;
      } else if (std::isnan(value)) {
        std::fill_n(to, width, no_value);
      } else if (value >= 0) {
        to[static_cast<Index>(places[j][static_cast<std::size_t>(value)])] = 1;
      }
      to += width;
    }
  }
  return features;
}

std::string column_text(const Column& column) {
  return column.name.empty() ? fmt::format("column {}", column.place + 1) : fmt::format("column '{}'", column.name);
}

/// Adds a note if most categories occur once: such texts are probably names.
void note_names(Dataset& data, const Column& column) {
  constexpr Index few = 20;
  const auto count = std::ssize(column.categories);
  if (count <= few || 2 * count <= data.count()) return;
  data.notes.push_back(
      fmt::format("{}: {} has {} different texts in {} rows, each of which becomes a feature; drop it "
                  "if they are names rather than categories",
                  data.name, column_text(column), count, data.count()));
}

/// Adds a note on each column of a new table that counts the rows from 0 or 1: such a number is no feature, and in a
/// table sorted by class it tells the label.
void note_row_numbers(CsvLayout& layout, const CsvCells& cells, const ReadOptions& options) {
  constexpr Index few = 10;
  if (options.like != nullptr || cells.rows < few || cells.columns.size() < 2) return;
  for (std::size_t j = 0; j < cells.columns.size(); ++j) {
    const auto column = static_cast<Index>(j);
    const double first = cells.values(0, column);
    bool counts = !cells.columns[j].texts() && (first == 0 || first == 1);
    for (Index i = 0; counts && i < cells.rows; ++i) {
      counts = cells.values(i, column) == first + static_cast<double>(i);
    }
    if (!counts) continue;
    layout.notes.push_back(fmt::format("{}: {} counts the rows; drop it if it is their number rather than a feature",
                                       options.source, column_text(layout.table.columns[j])));
  }
}

void add_layout_notes(Dataset& data, const CsvCells& cells, const CsvLayout& layout) {
  data.notes = layout.notes;
  for (std::size_t j = 0; j < cells.columns.size(); ++j) {
    const Column& column = data.layout.columns[j];
    const std::map<std::string, Index>& unknown = cells.columns[j].unknown();
    if (unknown.empty()) {
      note_names(data, column);
      continue;
    }
    Index rows = 0;
    for (const auto& [text, count] : unknown) rows += count;
    data.notes.push_back(
        fmt::format("{}: {} has {} unknown categories in {} rows, such as '{}'; the features of the "
                    "column are all 0 there",
                    data.name, column_text(column), unknown.size(), rows, shown(unknown.begin()->first)));
  }
  if (cells.dropped > 0) {
    data.notes.push_back(fmt::format("{}: {} of {} rows have missing values and are left out", data.name, cells.dropped,
                                     cells.rows + cells.dropped));
  }
}

/// Throws Error{input} on zero bytes, which no text in ASCII or UTF-8 has.
void check_text(std::string_view text, const std::string& source) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    fail(Code::input, "{}: the text is encoded in UTF-16; save it as UTF-8", source);
  }
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    fail(Code::input, "{}: byte {} is zero, so this is no table in text; give a CSV file in UTF-8", source, zero);
  }
}

Matrix<double> first_rows(Matrix<double> all, Index count) {
  if (count == all.rows()) return all;
  Matrix<double> rows(count, all.cols(), Content::unset);
  std::copy_n(all.data(), count * all.cols(), rows.data());
  return rows;
}

}  // namespace

Dataset parse_csv(std::string_view text, const ReadOptions& options) {
  options.table.validate();
  check_text(text, options.source);
  const char delimiter = detect_delimiter(text);
  CsvLayout layout = read_layout(text, delimiter, options);
  CsvCells cells = read_cells(text, delimiter, layout, options);
  note_row_numbers(layout, cells, options);
  Dataset data;
  data.name = options.source;
  data.layout = layout.table;
  const bool numbers =
      std::none_of(cells.columns.begin(), cells.columns.end(), [](const auto& c) { return c.texts(); });
  Matrix<double> features =
      numbers ? first_rows(std::move(cells.values), cells.rows) : features_of(cells, data.layout, options);
  data.shape = {1, 1, features.cols()};
  data.values = std::move(features);
  add_layout_notes(data, cells, layout);
  if (layout.labelled()) set_labels(data, cells.labels, options.source);
  if (!cells.outputs.empty()) {
    data.outputs = Matrix<double>(cells.rows, std::ssize(layout.table.outputs), Content::unset);
    std::copy(cells.outputs.begin(), cells.outputs.end(), data.outputs.data());
  }
  if (fills(options.table.missing) && !options.keep_missing) {
    learn_fill(data, options.table.missing);
    fill_missing(data, data.layout);
  }
  return data;
}

Dataset read_csv(const std::filesystem::path& path, const ReadOptions& options) {
  const Blob bytes = read_unpacked(path, options.limits);
  return parse_csv(as_text(bytes), options);
}

}  // namespace widelimit
