#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace widelimit {

/// Returns the length of the well-formed UTF-8 character at the start of the non-empty `text`, or 0 if there is none
/// (Unicode 15, table 3-7: overlong forms, surrogates and values above U+10FFFF are ill-formed).
[[nodiscard]] std::size_t character_length(std::string_view text);

/// Returns the number of characters of valid UTF-8: its bytes without the continuation bytes 10xxxxxx.
[[nodiscard]] std::size_t count_characters(std::string_view text);

/// Returns whether a character is a control character (including U+0080…U+009F) or one of the two noncharacters that
/// XML forbids.
[[nodiscard]] bool is_unprintable(std::string_view character);

/// Returns valid UTF-8 without control characters except line feeds and tabs: other bytes become \xNN, so that
/// different texts stay different. Apply it to all text from files before it is used as a name or in a message.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace widelimit
