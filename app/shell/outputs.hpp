#pragma once

/// Forward declaration: the header of CLI11 is slow to compile.
namespace CLI {
class App;
}  // namespace CLI

namespace widelimit::app {

/// Throws Error{usage} if two outputs on the command line of `verb` are the same file, or if an output is a file that
/// another option names, also through links. Runs before every verb, so that no verb can overwrite its input.
void check_outputs(const CLI::App& verb);

}  // namespace widelimit::app
