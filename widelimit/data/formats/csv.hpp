#pragma once

#include "widelimit/data/formats/format.hpp"

#include <string_view>

namespace widelimit {

/// Parses CSV and TSV (RFC 4180 quoting, LF or CRLF; a UTF-8 byte order mark and empty lines are skipped).
/// - Delimiter: the most frequent of `, ; tab` in the first line, else spaces.
/// - Header, label and columns: csv_layout.hpp.
/// - Text columns, and columns requested as categorical, are one-hot encoded, with categories in lexicographic order.
/// - Missing cells (empty, ?, NA, N/A, null, NaN) are treated as `options.table.missing` specifies.
/// Throws Error{input} with line and column for other cells that are not finite numbers, columns that mix numbers and
/// texts, and rows of different length.
[[nodiscard]] Dataset parse_csv(std::string_view text, const ReadOptions& options = {});
/// Reads a plain or gz file.
[[nodiscard]] Dataset read_csv(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace widelimit
