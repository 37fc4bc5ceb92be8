#pragma once

#include <optional>
#include <string_view>

namespace widelimit {

/// Parses the whole of `text` as a decimal number; returns std::nullopt if it is none. Accepts "nan" and "inf", and
/// 1e999 is infinite, so that the caller can report the position. Independent of the locale.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

/// Every integer up to this magnitude is exactly representable as a double.
inline constexpr double exact_integers = 0x1.0p53;

/// Returns whether the text is a number with a decimal comma or with separators of thousands: "1,5", "1,234.5".
[[nodiscard]] bool has_number_comma(std::string_view text);

/// Returns `text` without leading and trailing spaces and tabs.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace widelimit
