#include "widelimit/report/drawing/figures.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"
#include "widelimit/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {
namespace {

constexpr int map_edge = 400;
constexpr int strip_height = 110;
constexpr int strip_gap = 26;
constexpr int left_margin = 90;
constexpr int right_margin = 100;
constexpr int bottom_margin = 64;
/// Horizontal position of the axis labels, as a fraction of the width.
constexpr double label_share = 16.0 / (left_margin + map_edge + right_margin);
constexpr std::size_t longest_label = 24;
/// Maximum number of names below the axis.
constexpr std::size_t most_names = 12;

/// Returns tics with every name, or every second, third, … of many; without labels unless `named`.
std::string tics_of(const std::vector<std::string>& names, bool named = true) {
  const std::size_t every = (names.size() + most_names - 1) / most_names;
  std::string tics;
  for (std::size_t k = 0; k < names.size(); k += every) {
    const std::string name = named ? shorten(clean_text(names[k]), longest_label) : std::string();
    tics += fmt::format("{}{} {}", k == 0 ? "" : ", ", quote_tic(name), k);
  }
  return tics;
}

/// Minimum and maximum of included numbers.
struct StripExtent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Cell (i, j) extends half a checkpoint to each side. The range is explicit, since gnuplot has none for equal numbers.
void plot_map(Drawing& drawing, MatrixView<const double> distances) {
  std::string rows;
  StripExtent extent;
  for (Index i = 0; i < distances.rows; ++i) {
    for (Index j = 0; j < distances.cols; ++j) {
      if (!std::isfinite(distances(i, j))) {
        fail(Code::numerical, "entry ({}, {}) of the distances to draw is {}", i, j, distances(i, j));
      }
      extent.include(distances(i, j));
      rows += fmt::format("{} {} {}\n", j, i, distances(i, j));
    }
  }
  drawing.data("distances", rows);
  drawing.line("set cbrange [{}:{}]", extent.low, extent.high > extent.low ? extent.high : extent.low + 1e-12);
  drawing.line("plot 'distances' using 1:2:3 with image notitle");
}

void set_strip_axis(Drawing& drawing, const StripExtent& extent, AxisScale scale) {
  const bool log = scale == AxisScale::log;
  drawing.line("{} logscale y", log ? "set" : "unset");
  drawing.line("set format y {}", log ? power_of_ten_format() : "'%g'");
  if (extent.low > extent.high) {
    drawing.line("set yrange [0.1:1]");
  } else if (log) {
    drawing.line("set yrange [{}:{}]", extent.low / 2, std::min(extent.high * 2, std::numeric_limits<double>::max()));
  } else {
    const double margin = extent.high > extent.low ? 0.06 * (extent.high - extent.low) : 0.01 + std::fabs(extent.low);
    drawing.line("set yrange [{}:{}]", extent.low - margin, extent.high + margin);
  }
}

void plot_strip(Drawing& drawing, const TimelineStrip& strip, std::size_t number, std::size_t first_colour) {
  std::string commands;
  StripExtent extent;
  for (std::size_t s = 0; s < strip.series.size(); ++s) {
    const Series& one = strip.series[s];
    if (one.x.size() != one.y.size())
      fail(Code::usage, "curve \"{}\" has different numbers of x and y values", one.name);
    std::string rows;
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      if (!std::isfinite(one.y[i])) fail(Code::numerical, "point {} of curve \"{}\" is {}", i, one.name, one.y[i]);
      if (strip.scale == AxisScale::log && one.y[i] <= 0) continue;
      extent.include(one.y[i]);
      rows += fmt::format("{} {}\n", one.x[i], one.y[i]);
    }
    if (rows.empty()) continue;
    const std::string file = fmt::format("strip{}-{}", number, s);
    drawing.data(file, rows);
    commands += fmt::format("{}'{}' with linespoints pointtype 7 pointsize 0.5 linewidth 2 linecolor rgb '{}' notitle",
                            commands.empty() ? "" : ", ", file, series_colour(first_colour + s));
  }
  if (commands.empty()) commands = "NaN notitle";
  set_strip_axis(drawing, extent, strip.scale);
  drawing.line("plot {}", commands);
}

}  // namespace

Figure timeline(MatrixView<const double> distances, const std::vector<std::string>& names,
                const std::vector<TimelineStrip>& strips, const HeatMapOptions& options) {
  const Index count = distances.rows;
  if (count < 2 || distances.cols != count || std::ssize(names) != count) {
    fail(Code::usage,
         "a timeline needs a square matrix of two or more checkpoints and a name for each; got {} by {} and {} names",
         distances.rows, distances.cols, names.size());
  }
  const int area = map_edge + static_cast<int>(std::ssize(strips)) * (strip_height + strip_gap);
  Layout layout{.plot_width = map_edge,
                .plot_height = area,
                .left = left_margin,
                .right = right_margin,
                .bottom = bottom_margin,
                .x_label = options.column_label};
  for (const TimelineStrip& strip : strips) {
    for (const Series& one : strip.series) layout.legend.push_back(one.name);
  }
  Drawing drawing(options.title, layout);
  // Sets the vertical range of the next plot, in pixels from the top of the plot area.
  const auto place = [&](int from, int to) {
    drawing.line("set tmargin at screen top - (top - bottom)*{}", static_cast<double>(from) / area);
    drawing.line("set bmargin at screen top - (top - bottom)*{}", static_cast<double>(to) / area);
  };
  const auto label = [&](const std::string& text, int from, int to) {
    drawing.line("set label {} at screen {}, screen top - (top - bottom)*{} center rotate textcolor rgb ink",
                 quote(shorten(clean_text(text), longest_label)), label_share,
                 static_cast<double>(from + to) / (2 * area));
  };
  drawing.line("set multiplot");
  drawing.line("set xrange [-0.5:{}]", static_cast<double>(count) - 0.5);
  drawing.line("set yrange [{}:-0.5]", static_cast<double>(count) - 0.5);
  drawing.line("set xtics ({})", tics_of(names));
  drawing.line("set ytics ({})", tics_of(names));
  drawing.line("set palette defined ({})", map_palette());
  drawing.line("set colorbox user origin graph 1.04, graph 0 size graph 0.035, graph 1");
  place(0, map_edge);
  label(options.row_label, 0, map_edge);
  plot_map(drawing, distances);
  drawing.line("set ytics autofreq");
  std::size_t colour = 0;
  int from = map_edge + strip_gap;
  for (std::size_t k = 0; k < strips.size(); ++k) {
    drawing.line("unset label; unset arrow; unset colorbox");
    place(from, from + strip_height);
    label(strips[k].label, from, from + strip_height);
    drawing.line("set xtics ({})", tics_of(names, k + 1 == strips.size()));
    plot_strip(drawing, strips[k], k, colour);
    colour += strips[k].series.size();
    from += strip_height + strip_gap;
  }
  drawing.line("unset multiplot");
  return drawing.render();
}

}  // namespace widelimit
