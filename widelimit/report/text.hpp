#pragma once

#include <string>
#include <string_view>

namespace widelimit {

/// The text as valid UTF-8 on one line: broken bytes become U+FFFD, control characters become spaces. What comes
/// from a user's file goes through here before it goes into a figure or a page.
[[nodiscard]] std::string clean_text(std::string_view text);

/// Clean text for HTML or XML, between tags or inside a quoted attribute.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// At most `length` characters (code points); a longer text ends in an ellipsis. Expects valid UTF-8.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t length);

}  // namespace widelimit
