#include "widelimit/report/text.hpp"

#include <algorithm>

namespace widelimit {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Length of the well-formed character at the start of `text`, 0 where there is none (Unicode 15, table 3-7:
/// overlong forms, surrogates and values above U+10FFFF are not well formed).
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues(text[i])) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool excluded = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return excluded ? 0 : length;
}

/// U+0080…U+009F, and the two noncharacters that XML refuses.
bool is_unprintable(std::string_view character) {
  if (character.size() == 1) return static_cast<unsigned char>(character[0]) < 0x20 || character[0] == 0x7F;
  if (character.size() == 2) return character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0;
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      clean += "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    const std::string_view character = text.substr(0, length);
    clean += is_unprintable(character) ? " " : character;
    text.remove_prefix(length);
  }
  return clean;
}

std::string escape_markup(std::string_view text) {
  std::string escaped;
  for (const char c : clean_text(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string shorten(std::string_view text, std::size_t length) {
  const auto characters =
      static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
  if (characters <= length) return std::string(text);
  if (length == 0) return "";
  std::size_t end = 0;
  for (std::size_t kept = 0; end < text.size(); ++end)
    if (!continues(text[end]) && kept++ == length - 1) break;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace widelimit
