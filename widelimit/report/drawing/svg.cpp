#include "widelimit/report/drawing/svg.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/report/text.hpp"

#include <array>
#include <cctype>
#include <functional>
#include <utility>

namespace widelimit {
namespace {

using Replacement = std::pair<std::string_view, std::string_view>;

void replace_all(std::string& text, const Replacement& replacement) {
  for (std::size_t at = text.find(replacement.first); at != std::string::npos;
       at = text.find(replacement.first, at + replacement.second.size()))
    text.replace(at, replacement.first.size(), replacement.second);
}

/// Applies `tag` to everything between < and >, `words` to everything else, so that text in a title is not mistaken for
/// an attribute. gnuplot escapes < in text, so a bare < opens a tag; its attributes contain no >.
std::string transform(std::string_view svg, const std::function<std::string(std::string_view)>& tag,
                      const std::function<std::string(std::string_view)>& words) {
  std::string result;
  result.reserve(svg.size() + svg.size() / 8);
  while (!svg.empty()) {
    const bool inside = svg.front() == '<';
    const std::size_t found = svg.find(inside ? '>' : '<');
    const std::size_t length = found == std::string_view::npos ? svg.size() : found + (inside ? 1 : 0);
    result += (inside ? tag : words)(svg.substr(0, length));
    svg.remove_prefix(length);
  }
  return result;
}

std::string unchanged(std::string_view text) { return std::string(text); }

std::string tidy_tag(std::string_view tag) {
  constexpr std::array<Replacement, 5> replacements = {{{" color=\"black\"", ""},
                                                        {"rgb(107, 114, 129)", "currentColor"},
                                                        {"rgb(107,114,129)", "currentColor"},
                                                        {"font-size=\"17.00\"", "font-size=\"17\" font-weight=\"600\""},
                                                        {"<image ", "<image style='image-rendering:pixelated' "}}};
  std::string tidy(tag);
  for (const Replacement& replacement : replacements) replace_all(tidy, replacement);
  return tidy;
}

/// "⟦-12⟧" → "10⁻¹²".
std::string tidy_text(std::string_view words) {
  constexpr std::array<std::string_view, 10> raised = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  constexpr std::string_view open = "⟦";
  constexpr std::string_view close = "⟧";
  const std::size_t begin = words.find(open);
  const std::size_t end = words.find(close);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::string(words);
  const std::string_view exponent = words.substr(begin + open.size(), end - begin - open.size());
  if (exponent.find_first_not_of("+-0123456789") != std::string_view::npos) return std::string(words);
  std::string power = "10";
  for (const char c : exponent) {
    if (c == '-') power += "⁻";
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) power += raised[static_cast<std::size_t>(c - '0')];
  }
  return std::string(words.substr(0, begin)) + power + std::string(words.substr(end + close.size()));
}

/// Removes the elements <title>…</title> whose text starts with `start`: browsers show them as tooltips.
void drop_titles(std::string& svg, std::string_view start) {
  std::string opening("<title>");
  opening += start;
  constexpr std::string_view closing = "</title>";
  for (std::size_t at = svg.find(opening); at != std::string::npos; at = svg.find(opening, at)) {
    const std::size_t end = svg.find(closing, at);
    if (end == std::string::npos) return;
    svg.erase(at, end + closing.size() - at);
  }
}

}  // namespace

std::string tidy_svg(std::string_view svg, std::string_view title) {
  const std::size_t root = svg.find("<svg");
  if (root == std::string_view::npos) fail(Code::input, "this is not an SVG picture: it has no <svg> element");
  std::string tidy = transform(svg.substr(root), tidy_tag, tidy_text);
  drop_titles(tidy, "gnuplot_plot_");
  replace_all(tidy, {"<title>Gnuplot</title>", "<title>" + escape_markup(title) + "</title>"});
  return with_root_attributes(tidy, fmt::format("color=\"{}\"", svg_ink));
}

std::string with_unique_ids(std::string_view svg, std::string_view prefix) {
  const auto rename = [prefix](std::string_view tag) {
    std::string renamed(tag);
    for (const std::string_view before : {" id=\"", " id='", "url(#", "href=\"#", "href='#"})
      replace_all(renamed, {before, std::string(before) + std::string(prefix)});
    return renamed;
  };
  return transform(svg, rename, unchanged);
}

std::string with_root_attributes(std::string_view svg, std::string_view attributes) {
  const std::size_t root = svg.find("<svg");
  if (root == std::string_view::npos) fail(Code::input, "this is not an SVG picture: it has no <svg> element");
  const std::size_t place = root + std::string_view("<svg").size();
  return std::string(svg.substr(0, place)) + " " + std::string(attributes) + std::string(svg.substr(place));
}

}  // namespace widelimit
