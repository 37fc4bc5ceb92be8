#include "widelimit/data/formats/number.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

namespace widelimit {

std::optional<double> parse_real(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ptr != end || result.ec == std::errc::invalid_argument) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) {
    // Underflow is zero, overflow is infinite. The sign of the exponent tells which; a number without an exponent
    // underflows only if it starts with "0." or ".".
    const bool negative = text[0] == '-';
    if (negative) text.remove_prefix(1);
    const auto exponent = text.find_first_of("eE");
    const bool small = exponent != std::string_view::npos ? exponent + 1 < text.size() && text[exponent + 1] == '-'
                                                          : text[0] == '0' || text[0] == '.';
    const double magnitude = small ? 0.0 : std::numeric_limits<double>::infinity();
    return negative ? -magnitude : magnitude;
  }
  return value;
}

bool has_number_comma(std::string_view text) {
  if (text.find(',') == std::string_view::npos) return false;
  std::string decimal(text);
  std::replace(decimal.begin(), decimal.end(), ',', '.');
  std::string joined(text);
  joined.erase(std::remove(joined.begin(), joined.end(), ','), joined.end());
  return parse_real(decimal) || parse_real(joined);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace widelimit
