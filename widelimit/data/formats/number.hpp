#pragma once

#include <optional>
#include <string_view>

namespace widelimit {

/// The whole of `text` as a decimal number, else nothing. "nan" and "inf" are numbers here, and 1e999 is infinite:
/// the reader that finds them knows the place to report. Independent of the locale.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

/// Up to here every whole number is a double.
inline constexpr double exact_integers = 0x1.0p53;

/// Without spaces and tabs at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace widelimit
