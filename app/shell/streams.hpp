#pragma once

#include <string_view>

namespace widelimit::app {

/// Opens closed standard streams on /dev/null and ignores SIGPIPE and SIGXFSZ. Must be called first: the next opened
/// file would get the descriptor of a closed stream, and messages would be written into it. Writing to a standard
/// output that was closed still fails. Writing to a broken pipe, or beyond the size limit of files (ulimit -f), fails
/// instead of ending the program.
void secure_streams();

/// Writes to standard output. Throws Error{resource} if it cannot be written, e.g. on a full disk.
void print(std::string_view text);

/// Writes to standard error and ignores failures.
void print_error(std::string_view text);

}  // namespace widelimit::app
