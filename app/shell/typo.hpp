#pragma once

#include <string>

/// Named only: its header takes longer to compile than any file here.
namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace widelimit::app {

/// One line for a command line that was not understood: what is wrong, the nearest right word, where to read more.
[[nodiscard]] std::string usage_message(const CLI::App& cli, const CLI::ParseError& error);

}  // namespace widelimit::app
