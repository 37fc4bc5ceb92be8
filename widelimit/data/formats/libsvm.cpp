#include "widelimit/data/formats/libsvm.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/data/formats/byte_stream.hpp"
#include "widelimit/data/formats/number.hpp"
#include "widelimit/data/labels.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace widelimit {

namespace {

/// A dense matrix may have this many cells for each byte of the file; sparser sets (text corpora) do not fit this
/// program, and a damaged index must not allocate the machine.
constexpr double cells_per_byte = 1000;
constexpr double libsvm_allowance = 1 << 20;

struct Entry {
  Index column;
  double value;
};

/// Rows and columns, found before anything is allocated for them.
struct Extent {
  Index rows = 0;
  Index columns = 0;
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

/// visit(line without its comment, its number) for lines that hold a sample.
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

/// Indices ascend, so that the last one of a line is its largest.
Extent measure(std::string_view text, const std::string& source) {
  Extent extent;
  each_sample(text, [&](std::string_view sample, std::size_t line, std::size_t) {
    ++extent.rows;
    const auto colon = sample.rfind(':');
    if (colon == std::string_view::npos) return;
    const auto blank = sample.substr(0, colon).find_last_of(" \t\r");
    std::string_view token = sample.substr(blank == std::string_view::npos ? 0 : blank + 1);
    extent.columns = std::max(extent.columns, parse_entry(next_token(token), line, source).column + 1);
  });
  return extent;
}

/// Fills a row of zeros, and returns the label.
std::string parse_sample(std::string_view text, std::size_t line, std::span<double> row, const std::string& source) {
  const std::string_view label = next_token(text);
  const auto number = parse_real(label);
  if (label.find(':') != std::string_view::npos || (number && !std::isfinite(*number))) {
    fail(Code::input, "{}, line {}: '{}' is not a label; a line starts with one", source, line, label.substr(0, 40));
  }
  Index previous = -1;
  for (auto token = next_token(text); !token.empty(); token = next_token(text)) {
    const Entry entry = parse_entry(token, line, source);
    if (entry.column <= previous || entry.column >= std::ssize(row)) {
      fail(Code::input, "{}, line {}: index {} does not ascend", source, line, entry.column + 1);
    }
    previous = entry.column;
    row[static_cast<std::size_t>(entry.column)] = entry.value;
  }
  return std::string(label);
}

}  // namespace

Dataset parse_libsvm(std::string_view text, const ReadOptions& options) {
  const auto [rows, last] = measure(text, options.source);
  const Index columns = std::max(last, options.least_features);
  if (rows == 0) fail(Code::input, "{}: no samples", options.source);
  if (columns == 0) {
    // Where something stands after a label, that is the fault.
    each_sample(text, [&](std::string_view sample, std::size_t line, std::size_t) {
      (void)parse_sample(sample, line, {}, options.source);
    });
    fail(Code::input, "{}: no sample has a feature", options.source);
  }
  const double cells = static_cast<double>(rows) * static_cast<double>(columns);
  if (cells > libsvm_allowance + cells_per_byte * static_cast<double>(text.size())) {
    fail(Code::resource, "{}: {} samples of {} features are too sparse to hold dense; choose fewer features",
         options.source, rows, columns);
  }
  const double label_bytes = static_cast<double>(rows) * sizeof(std::string);
  options.limits.require(static_cast<double>(text.size()) + sizeof(double) * cells + label_bytes, options.source);
  Dataset data;
  data.name = options.source;
  data.shape = {1, 1, columns};
  Matrix<double> matrix(rows, columns);
  std::vector<std::string> labels;
  labels.reserve(static_cast<std::size_t>(rows));
  ProgressTicker ticker(options.limits.progress, std::ssize(text), "B");
  each_sample(text, [&](std::string_view sample, std::size_t line, std::size_t place) {
    const std::span row(matrix.view().row(std::ssize(labels)), static_cast<std::size_t>(columns));
    labels.push_back(parse_sample(sample, line, row, options.source));
    ticker.at(static_cast<std::int64_t>(place));
  });
  data.values = std::move(matrix);
  if (options.label != "none") set_labels(data, labels, options.source);
  return data;
}

Dataset read_libsvm(const std::filesystem::path& path, const ReadOptions& options) {
  const Blob bytes = read_unpacked(path, options.limits);
  return parse_libsvm(as_text(bytes), options);
}

}  // namespace widelimit
