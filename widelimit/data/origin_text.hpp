#pragma once

#include "widelimit/data/origin.hpp"

#include <string>

namespace widelimit {

/// origin_json as text. Files hold it so: it is nested deeper than readers of earlier versions look.
[[nodiscard]] std::string origin_text(const DataOrigin& origin);
/// Error{input} for what is no such text.
[[nodiscard]] DataOrigin parse_origin_text(const std::string& text);

}  // namespace widelimit
