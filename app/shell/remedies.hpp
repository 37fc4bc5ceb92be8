#pragma once

#include "widelimit/base/error.hpp"

#include <string>
#include <vector>

/// Named only: its header takes longer to compile than any file here.
namespace CLI {
class App;
}  // namespace CLI

namespace widelimit::app {

/// " (--resume, --force)": the options of a verb that carry remedies out. A file that one verb reads is resumed by
/// another, `kernel`.
[[nodiscard]] std::string options_of(const std::vector<Remedy>& remedies, const CLI::App& verb);

}  // namespace widelimit::app
