#pragma once

#include <string_view>

namespace widelimit {

/// "0.2.0": carried by every result.
[[nodiscard]] std::string_view version();

}  // namespace widelimit
