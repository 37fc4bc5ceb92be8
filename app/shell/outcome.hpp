#pragma once

#include "app/shell/options.hpp"

#include "widelimit/network/network.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/record.hpp"
#include "widelimit/report/table.hpp"

#include <string>
#include <string_view>

namespace widelimit::app {

/// Tables for readers: columns of words to the left, of numbers to the right, two blanks between; the caption above.
[[nodiscard]] std::string table_text(const Table& table);

/// Prints "widelimit: note: …" to standard error, unless --quiet.
void note(const CommonOptions& options, std::string_view text);

/// Prints "widelimit: warning: …" to standard error, unless --quiet.
void warn(const CommonOptions& options, std::string_view text);

/// Warns if the samples look like images with channels first and the network reads channels last.
void warn_of_layout(const CommonOptions& options, const Network& network, const Shape& shape);

/// Warns if the quadrature error of a kernel exceeds the rounding of its precision.
void warn_of(const CommonOptions& options, double quadrature_error, Precision precision);

/// The end of every verb: the record where --json asks for it, else `text` unless --quiet.
void deliver(const CommonOptions& options, const Record& record, std::string_view text);

}  // namespace widelimit::app
