#pragma once

#include <string>
#include <string_view>

namespace widelimit {

/// Returns valid UTF-8 on one line: invalid bytes become U+FFFD, control characters become spaces. User text must pass
/// through here before it is used in a figure or a page.
[[nodiscard]] std::string clean_text(std::string_view text);

/// Escapes clean text for HTML or XML, for content or quoted attributes.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// Truncates to at most `length` characters (code points), ending in an ellipsis. Expects valid UTF-8.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t length);

}  // namespace widelimit
