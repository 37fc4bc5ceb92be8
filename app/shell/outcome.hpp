#pragma once

#include "app/shell/options.hpp"

#include "widelimit/network/network.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/record.hpp"
#include "widelimit/report/table.hpp"

#include <string>
#include <string_view>

namespace widelimit::app {

/// Formats a table for the terminal: the caption, then the columns, separated by two blanks; text is left-aligned,
/// numbers are right-aligned.
[[nodiscard]] std::string table_text(const Table& table);

/// Prints "widelimit: note: …" to standard error, unless --quiet.
void note(const CommonOptions& options, std::string_view text);

/// Prints "widelimit: warning: …" to standard error, unless --quiet.
void warn(const CommonOptions& options, std::string_view text);

/// Warns if the samples look like images with channels first and the network reads channels last.
void warn_layout(const CommonOptions& options, const Network& network, const Shape& shape);

/// Warns if the quadrature error of a kernel exceeds the rounding of its precision.
void warn_quadrature(const CommonOptions& options, double quadrature_error, Precision precision);

/// Add a written file to the record and to the text of a result: "written to FILE", "report in PAGE".
void add_file(Record& record, std::string& output, const std::string& path);
void add_report(Record& record, std::string& output, const std::string& path);

/// Prints the result of a verb: the record with --json, otherwise `text` unless --quiet.
void print_result(const CommonOptions& options, const Record& record, std::string_view text);

}  // namespace widelimit::app
