#pragma once

#include "widelimit/report/table.hpp"

#include <filesystem>
#include <string>

namespace widelimit {

/// Returns the table as CSV (RFC 4180, lines ended by \n): a header, then the rows. Numbers have the fewest digits that
/// round-trip to the same double; words are quoted if necessary. The caption is not written.
[[nodiscard]] std::string to_csv(const Table& table, char separator = ',');
void write_csv(const Table& table, const std::filesystem::path& path);

/// Returns whether write_table supports the extension: .csv, .tsv or .json.
[[nodiscard]] bool is_table_file(const std::filesystem::path& path);
/// Writes the table in the format of the extension: CSV, TSV, or to_json_rows. The file is written atomically.
void write_table(const Table& table, const std::filesystem::path& path);

/// Returns the rows as a JSON list of objects keyed by column; an empty cell is null.
[[nodiscard]] std::string to_json_rows(const Table& table);

}  // namespace widelimit
