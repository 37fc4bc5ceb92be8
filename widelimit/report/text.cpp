#include "widelimit/report/text.hpp"

#include "widelimit/base/utf8.hpp"

#include <algorithm>

namespace widelimit {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

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
