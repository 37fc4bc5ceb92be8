#pragma once

#include "widelimit/report/table.hpp"

#include <filesystem>
#include <string>

namespace widelimit {

/// The table as CSV (RFC 4180, lines ended by \n): a header, then the rows; numbers in the fewest digits that read
/// back to the same double, words quoted where they must be. The caption is not written.
[[nodiscard]] std::string to_csv(const Table& table, char separator = ',');
void write_csv(const Table& table, const std::filesystem::path& path);

/// Whether write_table knows the ending of a file: .csv, .tsv or .json.
[[nodiscard]] bool is_table_file(const std::filesystem::path& path);
/// The table in the format that the ending names, CSV, the same with tabs, or to_json_rows; complete or absent.
void write_table(const Table& table, const std::filesystem::path& path);

/// The rows as a JSON list of objects, keyed by column; an empty cell is null.
[[nodiscard]] std::string to_json_rows(const Table& table);

}  // namespace widelimit
