#pragma once

#include <string>
#include <string_view>

namespace widelimit {

/// Ink colour in scripts, converted by tidy_svg to currentColor. No palette contains it.
inline constexpr std::string_view svg_ink = "#6b7281";

/// Font size used only by titles: gnuplot's plain text has no bold, so tidy_svg adds it by this size.
inline constexpr int svg_title_size = 17;

/// Converts gnuplot's SVG for embedding: removes the XML prologue, replaces the title, uses currentColor for ink, draws
/// image cells without interpolation, and sets exponents of ten as superscripts.
[[nodiscard]] std::string tidy_svg(std::string_view svg, std::string_view title);

/// Returns the picture with `prefix` before every id and reference, so that one page can embed several.
[[nodiscard]] std::string with_unique_ids(std::string_view svg, std::string_view prefix);

/// Returns the picture with attributes, which must be escaped, added to its root element.
[[nodiscard]] std::string with_root_attributes(std::string_view svg, std::string_view attributes);

}  // namespace widelimit
