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

/// A note on standard error, unless --quiet.
void note(const CommonOptions& options, std::string_view text);

/// A note where the samples look like images whose channels come first, and the network reads them otherwise.
void warn_of_layout(const CommonOptions& options, const Network& network, const Shape& shape);

/// A note where quadrature left a kernel more than its precision promises.
void warn_of(const CommonOptions& options, double quadrature_error, Precision precision);

/// The end of every verb: the record where --json asks for it, else `text` unless --quiet.
void deliver(const CommonOptions& options, const Record& record, std::string_view text);

}  // namespace widelimit::app
