#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace widelimit {

/// Length of the well-formed UTF-8 character at the start of `text`, which is not empty; 0 where there is none (Unicode
/// 15, table 3-7: overlong forms, surrogates and values above U+10FFFF are not well formed).
[[nodiscard]] std::size_t character_length(std::string_view text);

/// Control characters, U+0080…U+009F, and the two noncharacters that XML refuses.
[[nodiscard]] bool is_unprintable(std::string_view character);

/// Valid UTF-8 without control characters but line ends and tabs: other bytes become \xNN, so that texts which differ
/// stay so. What comes from a file goes through here before it is a name, or part of a message.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace widelimit
