#pragma once

#include "widelimit/data/formats/format.hpp"

#include <string_view>

namespace widelimit {

/// CSV and TSV (RFC 4180 quoting, LF or CRLF, UTF-8 mark skipped, empty lines skipped).
/// - Delimiter: the one of `, ; tab` that the first line has most of, else spaces.
/// - Header: the first line is one when its features are not numbers, or when its label alone is text above a
///   numeric label, or when the label is asked for by a name in it.
/// - Label: the last column, or the column `options.label` names: by its header, by number from 0, from the end
///   with -1, or "none".
/// Features must be finite numbers: an empty, non-finite or text cell, or a row of another length, is Error{input}
/// with line and column.
[[nodiscard]] Dataset parse_csv(std::string_view text, const ReadOptions& options = {});
/// Plain or gz.
[[nodiscard]] Dataset read_csv(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace widelimit
