#pragma once

#include "widelimit/network/value.hpp"

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

/// Formats the value of an argument: "0.1", "3x3", "SAME", "[0.1,0.5]", "word".
[[nodiscard]] std::string write_value(const Value& value);

/// Trims blanks, tabs and line ends on both sides.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

}  // namespace widelimit
