#pragma once

#include "widelimit/data/origin.hpp"

#include <string>

namespace widelimit {

/// Returns origin_json as text. Files store it as text since its nesting exceeds the depth that older versions parse.
[[nodiscard]] std::string origin_text(const DataOrigin& origin);
/// Throws Error{input} if `text` is not such a record.
[[nodiscard]] DataOrigin parse_origin_text(const std::string& text);

}  // namespace widelimit
