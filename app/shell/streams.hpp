#pragma once

#include <string_view>

namespace widelimit::app {

/// To be called first: a standard stream that the caller has closed would be the number of the next file that is
/// opened, and messages would go into it. A closed standard output stays one that cannot be written. Pipes that nobody
/// reads, and files at their largest size (ulimit -f), make a write fail and end nothing.
void secure_streams();

/// Standard output; Error{resource} where it cannot be written (a full disk, say).
void print(std::string_view text);

/// Standard error. A message that cannot be written is lost, and nothing else.
void tell(std::string_view text);

}  // namespace widelimit::app
