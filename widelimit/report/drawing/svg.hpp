#pragma once

#include <string>
#include <string_view>

namespace widelimit {

/// The colour that scripts draw ink with; tidy_svg makes it currentColor. No palette of ours contains it.
inline constexpr std::string_view svg_ink = "#6b7281";

/// The font size that only titles have: gnuplot's plain text knows no weight, so tidy_svg gives them theirs.
inline constexpr int svg_title_size = 17;

/// gnuplot's SVG made fit for pages: no XML prologue, our title instead of gnuplot's, ink that follows the text
/// around it, crisp cells in images, exponents of ten in superscripts.
[[nodiscard]] std::string tidy_svg(std::string_view svg, std::string_view title);

/// The same picture with `prefix` before every id and every reference to one, so that several can stand on one page.
[[nodiscard]] std::string with_unique_ids(std::string_view svg, std::string_view prefix);

/// The same picture with attributes put into its root element; they must be escaped already.
[[nodiscard]] std::string with_root_attributes(std::string_view svg, std::string_view attributes);

}  // namespace widelimit
