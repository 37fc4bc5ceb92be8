#pragma once

/// Forward declaration: the header of CLI11 is slow to compile.
namespace CLI {
class App;
}  // namespace CLI

namespace widelimit::app {

/// Sets the format of the help of `cli` and of the verbs that are added afterwards.
void set_help_format(CLI::App& cli);

}  // namespace widelimit::app
