#include "widelimit/data/libsvm.hpp"

#include "widelimit/data/archive.hpp"
#include "widelimit/data/labels.hpp"
#include "widelimit/data/number.hpp"

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
  Index row;
  Index column;
  double value;
};

struct Sparse {
  std::vector<std::string> labels;
  std::vector<Entry> entries;
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

Entry parse_entry(std::string_view token, Index row, std::size_t line, const std::string& source) {
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
  return {row, column - 1, *value};
}

void parse_line(std::string_view text, std::size_t line, Sparse& sparse, const std::string& source) {
  text = text.substr(0, text.find('#'));
  const std::string_view label = next_token(text);
  if (label.empty()) return;
  const auto number = parse_real(label);
  if (label.find(':') != std::string_view::npos || (number && !std::isfinite(*number))) {
    fail(Code::input, "{}, line {}: '{}' is not a label; a line starts with one", source, line, label.substr(0, 40));
  }
  const Index row = std::ssize(sparse.labels);
  sparse.labels.emplace_back(label);
  Index previous = -1;
  for (auto token = next_token(text); !token.empty(); token = next_token(text)) {
    const Entry entry = parse_entry(token, row, line, source);
    if (entry.column <= previous) {
      fail(Code::input, "{}, line {}: index {} does not ascend", source, line, entry.column + 1);
    }
    previous = entry.column;
    sparse.columns = std::max(sparse.columns, entry.column + 1);
    sparse.entries.push_back(entry);
  }
}

}  // namespace

Dataset parse_libsvm(std::string_view text, const ReadOptions& options) {
  Sparse sparse;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    parse_line(text.substr(at, end - at), ++line, sparse, options.source);
    at = end + 1;
  }
  const Index rows = std::ssize(sparse.labels);
  const Index columns = std::max(sparse.columns, options.least_features);
  if (rows == 0) fail(Code::input, "{}: no samples", options.source);
  if (columns == 0) fail(Code::input, "{}: no sample has a feature", options.source);
  if (static_cast<double>(rows) * static_cast<double>(columns) >
      libsvm_allowance + cells_per_byte * static_cast<double>(text.size())) {
    fail(Code::resource, "{}: {} samples of {} features are too sparse to hold dense; choose fewer features",
         options.source, rows, columns);
  }
  Dataset data;
  data.name = options.source;
  data.shape = {1, 1, columns};
  Matrix<double> matrix(rows, columns);
  std::fill_n(matrix.data(), rows * columns, 0.0);
  for (const Entry& entry : sparse.entries) matrix(entry.row, entry.column) = entry.value;
  data.values = std::move(matrix);
  if (options.label != "none") set_labels(data, sparse.labels, options.source);
  return data;
}

Dataset read_libsvm(const std::filesystem::path& path, const ReadOptions& options) {
  const Blob bytes = decompress(read_file(path), path.string());
  return parse_libsvm(as_text(bytes), options);
}

}  // namespace widelimit
