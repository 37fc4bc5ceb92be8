#pragma once

#include "widelimit/base/error.hpp"

#include <string>
#include <vector>

/// Forward declaration: the header of CLI11 is slow to compile.
namespace CLI {
class App;
}  // namespace CLI

namespace widelimit::app {

/// Returns the options of `verb` for `remedies`, e.g. " (--resume, --force)". --resume is always included: `kernel`
/// resumes the files that other verbs read.
[[nodiscard]] std::string options_of(const std::vector<Remedy>& remedies, const CLI::App& verb);

}  // namespace widelimit::app
