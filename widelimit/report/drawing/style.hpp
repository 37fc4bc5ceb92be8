#pragma once

#include <string_view>

namespace widelimit {

/// The style sheet of every page.
[[nodiscard]] std::string_view page_style();

}  // namespace widelimit
