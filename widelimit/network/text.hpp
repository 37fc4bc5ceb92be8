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
/// Arguments that are layers themselves stand in the braces, in the order of the layer's form. Error{input} says at
/// which character, and on which line where there are several.
[[nodiscard]] Layers read_text(std::string_view text);
/// Canonical text, one blank between layers; no presets, no repetition.
[[nodiscard]] std::string write_text(const Layers& layers);

/// One argument's value: "0.1", "3x3", "SAME", "[0.1,0.5]", "word". Nothing where the text is not of the parameter's
/// type; the range is the caller's to check.
[[nodiscard]] std::optional<Value> read_value(const Parameter& parameter, std::string_view text);
[[nodiscard]] std::string write_value(const Value& value);

/// Without blanks, tabs and ends of lines on both sides.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

}  // namespace widelimit
