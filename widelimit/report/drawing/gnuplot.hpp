#pragma once

#include "widelimit/report/drawing/figures.hpp"
#include "widelimit/report/file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace widelimit {

/// Plot area and margins, in pixels. The title and, for two or more names, a legend are drawn above.
struct Layout {
  int plot_width = 0;
  int plot_height = 0;
  int left = 0;
  int right = 0;
  int bottom = 0;
  std::string x_label = {};      ///< below the plot
  std::string y_label = {};      ///< rotated, at the left edge
  std::string right_label = {};  ///< rotated, at the right edge
  std::vector<std::string> legend = {};
  int legend_weight = 2;  ///< line width of the legend samples
};

/// Picture under construction: a gnuplot script and its data files in a temporary folder. User text must pass through
/// quote(), which prevents interpretation as commands, markup or formats. The script can use `top` and `bottom`, the
/// limits of the plot area as fractions of the screen, and `ink`, the colour of text.
class Drawing {
 public:
  Drawing(std::string_view title, const Layout& layout);

  /// Appends a line to the script.
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    script_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }
  /// Writes a data file next to the script, to be referenced by name.
  void data(std::string_view name, std::string_view bytes) const;

  /// Runs gnuplot. Throws Error{usage} if it is not installed, Error{resource} if it fails.
  [[nodiscard]] Figure render() const;

 private:
  std::string title_;
  std::string script_;
  TemporaryFolder folder_;
};

/// Returns the approximate width of a text in pixels.
[[nodiscard]] int text_width(std::string_view text);

/// Returns a gnuplot string constant.
[[nodiscard]] std::string quote(std::string_view text);
/// As quote, for tic labels, which gnuplot interprets as number formats.
[[nodiscard]] std::string quote_tic(std::string_view text);

/// Returns the colour of the k-th series; the sixth is ink, then the colours repeat with another dash.
[[nodiscard]] std::string_view series_colour(std::size_t k);
[[nodiscard]] int series_dash(std::size_t k);

/// Returns the colour map as a gnuplot palette.
[[nodiscard]] std::string_view map_palette();

/// Returns the tic format of a logarithmic axis: Drawing::render converts exponents to superscripts.
[[nodiscard]] std::string_view power_of_ten_format();

/// Returns whether gnuplot is available.
[[nodiscard]] bool gnuplot_is_present();

}  // namespace widelimit
