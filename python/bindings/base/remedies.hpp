#pragma once

#include "widelimit/base/error.hpp"

#include <string>
#include <vector>

namespace widelimit::python {

/// " (missing='drop', 'mean' or 'median')": the arguments by which Python carries remedies out.
[[nodiscard]] std::string arguments_of(const std::vector<Remedy>& remedies);

}  // namespace widelimit::python
