#pragma once

#include <string_view>

namespace widelimit {

/// Version of the library, e.g. "0.3.0"; stored in every result.
[[nodiscard]] std::string_view version();

}  // namespace widelimit
