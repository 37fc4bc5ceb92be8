#include "widelimit/data/formats/libsvm.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/data/formats/byte_stream.hpp"
#include "widelimit/data/formats/number.hpp"
#include "widelimit/data/labels/labels.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace widelimit {

namespace {

struct Entry {
  Index column;
  double value;
};

/// Size of the data, measured before anything is allocated.
struct Extent {
  Index rows = 0;
  Index columns = 0;
  Index stored = 0;
};

std::string_view next_token(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = line.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  line.remove_prefix(first);
  const std::string_view token = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(token.size());
  return token;
}

Entry parse_entry(std::string_view token, std::size_t line, const std::string& source) {
  const auto colon = token.find(':');
  Index column = 0;
  if (colon != std::string_view::npos) {
    const auto result = std::from_chars(token.data(), token.data() + colon, column);
    if (result.ec != std::errc{} || result.ptr != token.data() + colon) column = 0;
  }
  if (column < 1) {
    fail(Code::input, "{}, line {}: '{}' is not index:value with an index from 1", source, line, token.substr(0, 40));
  }
  const auto value = parse_real(token.substr(colon + 1));
  if (!value || !std::isfinite(*value)) {
    fail(Code::input, "{}, line {}, index {}: '{}' is not a finite number", source, line, column,
         token.substr(colon + 1, 40));
  }
  return {column - 1, *value};
}

/// Calls visit(line without comment, line number, end position) for every line that holds a sample.
template <typename Visit>
void each_sample(std::string_view text, const Visit& visit) {
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    std::string_view sample = text.substr(at, end - at);
    ++line;
    at = end + 1;
    sample = sample.substr(0, sample.find('#'));
    if (sample.find_first_not_of(" \t\r") != std::string_view::npos) visit(sample, line, at);
  }
}

/// Indices ascend, so the last index of a line is its largest.
Extent measure(std::string_view text, const std::string& source) {
  Extent extent;
  each_sample(text, [&](std::string_view sample, std::size_t line, std::size_t) {
    ++extent.rows;
    const auto colon = sample.rfind(':');
    if (colon == std::string_view::npos) return;
    extent.stored += std::count(sample.begin(), sample.end(), ':');
    const auto blank = sample.substr(0, colon).find_last_of(" \t\r");
    std::string_view token = sample.substr(blank == std::string_view::npos ? 0 : blank + 1);
    extent.columns = std::max(extent.columns, parse_entry(next_token(token), line, source).column + 1);
  });
  return extent;
}

/// Calls put(entry) for every entry of a line, and returns its label.
template <typename Put>
std::string parse_sample(std::string_view text, std::size_t line, Index columns, const std::string& source,
                         const Put& put) {
  const std::string_view label = next_token(text);
  const auto number = parse_real(label);
  if (label.find(':') != std::string_view::npos || (number && !std::isfinite(*number))) {
    fail(Code::input, "{}, line {}: '{}' is not a label; a line starts with one", source, line, label.substr(0, 40));
  }
  Index previous = -1;
  for (auto token = next_token(text); !token.empty(); token = next_token(text)) {
    const Entry entry = parse_entry(token, line, source);
    if (entry.column <= previous || entry.column >= columns) {
      fail(Code::input, "{}, line {}: index {} is not in ascending order", source, line, entry.column + 1);
    }
    previous = entry.column;
    put(entry);
  }
  return std::string(label);
}

/// Builds a dense matrix row by row; CompressedRows below builds a sparse one.
class DenseRows {
 public:
  explicit DenseRows(const Extent& extent) : matrix_(extent.rows, extent.columns) {}
  void put(const Entry& entry) { matrix_(row_, entry.column) = entry.value; }
  void end_row() { ++row_; }
  [[nodiscard]] AnySamples take() { return std::move(matrix_); }

 private:
  Matrix<double> matrix_;
  Index row_ = 0;
};

class CompressedRows {
 public:
  explicit CompressedRows(const Extent& extent) : cols_(extent.columns) {
    offsets_.reserve(usize(extent.rows) + 1);
    columns_.reserve(usize(extent.stored));
    values_.reserve(usize(extent.stored));
  }
  void put(const Entry& entry) {
    columns_.push_back(static_cast<std::int32_t>(entry.column));
    values_.push_back(entry.value);
  }
  void end_row() { offsets_.push_back(std::ssize(values_)); }
  [[nodiscard]] AnySamples take() {
    return SparseMatrix(cols_, std::move(offsets_), std::move(columns_), std::move(values_));
  }

 private:
  Index cols_;
  std::vector<std::int64_t> offsets_{0};
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
};

/// Memory of the samples in bytes.
double dense_bytes(const Extent& extent) {
  return sizeof(double) * static_cast<double>(extent.rows) * static_cast<double>(extent.columns);
}
double sparse_bytes(const Extent& extent) {
  return static_cast<double>(sparse_entry_bytes) * static_cast<double>(extent.stored) +
         sizeof(std::int64_t) * (static_cast<double>(extent.rows) + 1);
}

/// Returns the labels of all lines and stores their entries in `rows`.
template <typename Rows>
std::vector<std::string> read_rows(std::string_view text, const Extent& extent, const ReadOptions& options,
                                   Rows& rows) {
  std::vector<std::string> labels;
  labels.reserve(usize(extent.rows));
  ProgressTicker ticker(options.limits.progress, std::ssize(text), "B");
  each_sample(text, [&](std::string_view sample, std::size_t line, std::size_t place) {
    labels.push_back(
        parse_sample(sample, line, extent.columns, options.source, [&](const Entry& entry) { rows.put(entry); }));
    rows.end_row();
    ticker.at(static_cast<std::int64_t>(place));
  });
  return labels;
}

}  // namespace

bool held_sparse(Index stored, Index rows, Index columns) {
  constexpr double small = 64 << 20;
  constexpr double much_larger = 10;
  const Extent extent{rows, columns, stored};
  return dense_bytes(extent) > small && dense_bytes(extent) > much_larger * sparse_bytes(extent);
}

Dataset parse_libsvm(std::string_view text, const ReadOptions& options) {
  Extent extent = measure(text, options.source);
  extent.columns = std::max(extent.columns, options.least_features);
  if (extent.rows == 0) fail(Code::input, "{}: no samples", options.source);
  if (extent.columns == 0) {
    // If a line has text after the label, that text is malformed: reports it first.
    each_sample(text, [&](std::string_view sample, std::size_t line, std::size_t) {
      (void)parse_sample(sample, line, 0, options.source, [](const Entry&) {});
    });
    fail(Code::input, "{}: no sample has a feature", options.source);
  }
  const bool sparse = held_sparse(extent.stored, extent.rows, extent.columns);
  if (sparse) require_sparse_columns(extent.columns, options.source);
  const double label_bytes = static_cast<double>(extent.rows) * sizeof(std::string);
  options.limits.require(
      static_cast<double>(text.size()) + (sparse ? sparse_bytes(extent) : dense_bytes(extent)) + label_bytes,
      options.source);
  Dataset data;
  data.name = options.source;
  data.shape = {1, 1, extent.columns};
  const auto read = [&](auto rows) {
    std::vector<std::string> labels = read_rows(text, extent, options, rows);
    data.values = rows.take();
    return labels;
  };
  const std::vector<std::string> labels = sparse ? read(CompressedRows(extent)) : read(DenseRows(extent));
  if (options.label != "none") set_labels(data, labels, options.source);
  return data;
}

Dataset read_libsvm(const std::filesystem::path& path, const ReadOptions& options) {
  const Blob bytes = read_unpacked(path, options.limits);
  return parse_libsvm(as_text(bytes), options);
}

}  // namespace widelimit
