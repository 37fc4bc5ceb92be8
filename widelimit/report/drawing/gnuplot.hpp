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

/// The plotted area and the room beside it, in pixels. Above it stand the title and, for two names or more, a legend.
struct Layout {
  int plot_width = 0;
  int plot_height = 0;
  int left = 0;
  int right = 0;
  int bottom = 0;
  std::string x_label = {};      ///< at the lower edge
  std::string y_label = {};      ///< turned, at the left edge
  std::string right_label = {};  ///< turned, at the right edge
  std::vector<std::string> legend = {};
  int legend_weight = 2;  ///< line width of the samples in the legend
};

/// One picture in the making: a script and its data files in a folder of their own. Text of the user's reaches
/// gnuplot only through quote(), where nothing in it is a command, a markup or a format. The script knows where the
/// plotted area ends as `top` and `bottom`, in shares of the screen, and the colour of text as `ink`.
class Drawing {
 public:
  Drawing(std::string_view title, const Layout& layout);

  /// Appends a line to the script.
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    script_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }
  /// Puts a file beside the script, where the script can name it.
  void data(std::string_view name, std::string_view bytes) const;

  /// Runs gnuplot. Error{usage} where there is none, Error{resource} where it fails, both with advice.
  [[nodiscard]] Figure render() const;

 private:
  std::string title_;
  std::string script_;
  TemporaryFolder folder_;
};

/// About how many pixels a text takes in a figure.
[[nodiscard]] int text_width(std::string_view text);

/// A gnuplot string constant holding this text.
[[nodiscard]] std::string quote(std::string_view text);
/// The same for the label of a tic, which gnuplot takes for a number format.
[[nodiscard]] std::string quote_tic(std::string_view text);

/// Colour of the k-th series; the sixth is ink, then they begin again with another dash.
[[nodiscard]] std::string_view series_colour(std::size_t k);
[[nodiscard]] int series_dash(std::size_t k);

/// Colours of maps, as gnuplot defines a palette.
[[nodiscard]] std::string_view map_palette();

/// Format of tics on an axis of powers of ten: Drawing::render turns each exponent into superscripts.
[[nodiscard]] std::string_view power_of_ten_format();

/// Whether figures can be drawn on this machine.
[[nodiscard]] bool gnuplot_is_present();

}  // namespace widelimit
