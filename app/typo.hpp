#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace widelimit::app {

/// One line for a command line that was not understood: what is wrong, the nearest right word, where to read more.
[[nodiscard]] std::string usage_message(const CLI::App& cli, const CLI::ParseError& error);

}  // namespace widelimit::app
