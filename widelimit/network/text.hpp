#pragma once

#include "widelimit/network/value.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace widelimit {

/// The text form:
///
///     network  = { element }
///     element  = layer | preset | repeat
///     layer    = word [ "(" argument { "," argument } ")" ] [ "{" network { "|" network } "}" ]
///     preset   = word [ ":" depth ] [ "(" argument { "," argument } ")" ]
///     repeat   = "repeat" "(" count ")" "{" network "}"
///     argument = word "=" value
///
/// Arguments that are layers themselves are written in the braces, in the order of the layer's form. Throws
/// Error{input} with the character position, and the line number if there are several lines.
[[nodiscard]] Layers read_text(std::string_view text);
/// Canonical text, layers separated by one blank; no presets, no repetition.
[[nodiscard]] std::string write_text(const Layers& layers);

/// Parses one argument value: "0.1", "3x3", "SAME", "[0.1,0.5]", "word". Returns std::nullopt if the text is not of the
/// parameter's type; the caller checks the range.
[[nodiscard]] std::optional<Value> read_value(const Parameter& parameter, std::string_view text);
[[nodiscard]] std::string write_value(const Value& value);

/// Trims blanks, tabs and line ends on both sides.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

}  // namespace widelimit
