#pragma once

#include "widelimit/data/formats/format.hpp"

#include <string_view>

namespace widelimit {

/// CSV and TSV (RFC 4180 quoting, LF or CRLF, UTF-8 mark skipped, empty lines skipped).
/// - Delimiter: the one of `, ; tab` that the first line has most of, else spaces.
/// - Header, label and columns: csv_layout.hpp.
/// - Columns of texts, and those asked for, become one feature for each category, in the order of their texts.
/// - Cells without a value (empty, ?, NA, N/A, null, NaN) are treated as `options.table.missing` says.
/// Other cells that are no finite numbers, a column that mixes numbers and texts, and a row of another length are
/// Error{input} with line and column.
[[nodiscard]] Dataset parse_csv(std::string_view text, const ReadOptions& options = {});
/// Plain or gz.
[[nodiscard]] Dataset read_csv(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace widelimit
