#pragma once

#include "widelimit/base/error.hpp"

#include <string>
#include <vector>

namespace widelimit::python {

/// Returns the Python arguments for these remedies, e.g. " (missing='drop', 'mean' or 'median')".
[[nodiscard]] std::string arguments_of(const std::vector<Remedy>& remedies);

}  // namespace widelimit::python
