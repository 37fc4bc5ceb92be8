#include "widelimit/analysis/margins.hpp"
#include "widelimit/report/drawing/figures.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"
#include "widelimit/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {
namespace {

constexpr double pixel_columns = 500;
/// Longer series are drawn without point markers.
constexpr std::size_t most_marked_points = 40;

constexpr std::size_t longest_name = 48;

struct Point {
  double x = 0;
  double y = 0;
};

struct AxisExtent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

double on_scale(double value, AxisScale scale) { return scale == AxisScale::log ? std::log10(value) : value; }

void require_points(const Series& series) {
  if (series.x.size() != series.y.size())
    fail(Code::usage, "curve \"{}\" has {} values of x and {} of y", series.name, series.x.size(), series.y.size());
  for (std::size_t i = 0; i < series.x.size(); ++i)
    if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i]))
      fail(Code::numerical, "point {} of curve \"{}\" is ({}, {}): only finite numbers can be drawn", i, series.name,
           series.x[i], series.y[i]);
}

std::vector<Point> showable(const Series& series, const CurvesOptions& options) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool hidden = (options.x_scale == AxisScale::log && series.x[i] <= 0) ||
                        (options.y_scale == AxisScale::log && series.y[i] <= 0);
    if (!hidden) points.push_back({series.x[i], series.y[i]});
  }
  return points;
}

/// Reduces the points in one pixel column to the first, lowest, highest and last, which draws the same line. Cost:
/// O(points).
std::vector<Point> thinned(const std::vector<Point>& points, const AxisExtent& x, AxisScale scale) {
  if (points.size() <= static_cast<std::size_t>(4 * pixel_columns)) return points;
  const double left = on_scale(x.low, scale);
  const double width = on_scale(x.high, scale) / pixel_columns - left / pixel_columns;
  const auto column = [&](const Point& p) { return std::floor((on_scale(p.x, scale) - left) / width); };
  const auto lower = [](const Point& a, const Point& b) { return a.y < b.y; };
  std::vector<Point> kept;
  for (auto begin = points.begin(); begin != points.end();) {
    const double here = column(*begin);
    const auto end = std::find_if(begin, points.end(), [&](const Point& p) { return column(p) != here; });
    if (end - begin <= 4) {
      kept.insert(kept.end(), begin, end);
    } else {
      const auto extremes = std::minmax_element(begin, end, lower);
      const auto inner = std::minmax(extremes.first, extremes.second);
      kept.insert(kept.end(), {*begin, *inner.first, *inner.second, *(end - 1)});
    }
    begin = end;
  }
  return kept;
}

/// Returns tics for a logarithmic axis too short for powers of ten: multiples by 1, 2 and 5, or the two ends.
std::string tics_between(const AxisExtent& extent) {
  std::vector<double> tics;
  const double decade = std::pow(10.0, std::floor(std::log10(extent.low)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0})
    if (factor * decade >= extent.low && factor * decade <= extent.high) tics.push_back(factor * decade);
  if (tics.size() < 2) tics = {extent.low, extent.high};
  std::string text;
  for (const double tic : tics)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", quote(fmt::format("{:.4g}", tic)), tic);
  return text;
}

/// Sets explicit ranges: gnuplot extends an axis to the next tic, which overflows near the largest doubles.
void set_axis(Drawing& drawing, char axis, const AxisExtent& extent, AxisScale scale) {
  if (scale == AxisScale::log) {
    const double margin = extent.low == extent.high ? 2.0 : 1.0;
    drawing.line("set logscale {}", axis);
    drawing.line("set {}range [{}:{}]", axis, std::max(extent.low / margin, std::numeric_limits<double>::min()),
                 std::min(extent.high * margin, std::numeric_limits<double>::max()));
    if (extent.high / 100 >= extent.low)
      drawing.line("set format {} {}", axis, power_of_ten_format());
    else
      drawing.line("set {}tics ({})", axis, tics_between(extent));
    return;
  }
  const double spread = extent.high / 2 - extent.low / 2;
  const double margin = spread > 0 ? 0.06 * spread : std::max(std::fabs(extent.low) * 0.01, 1e-300);
  const double outer = axis == 'y' ? margin : (spread > 0 ? 0.0 : margin);
  drawing.line("set {}range [{}:{}]", axis, std::max(extent.low - outer, std::numeric_limits<double>::lowest()),
               std::min(extent.high + outer, std::numeric_limits<double>::max()));
}

std::string_view style_of(const Series& series, std::size_t points) {
  if (series.stroke == Stroke::rings) return "points pointtype 6 pointsize 1.4";
  const bool dotted = series.stroke == Stroke::dotted_line && points <= most_marked_points;
  return dotted ? "linespoints pointtype 7 pointsize 0.5" : "lines";
}

std::string rows_of(const std::vector<Point>& points) {
  std::string rows;
  for (const Point& point : points) rows += fmt::format("{} {}\n", point.x, point.y);
  return rows;
}

/// Points that the axes can show, with their extents.
struct PlottedPoints {
  std::vector<std::vector<Point>> points;
  AxisExtent x;
  AxisExtent y;
  std::size_t given = 0;
  std::size_t kept = 0;
};

PlottedPoints collect(const std::vector<Series>& series, const CurvesOptions& options) {
  PlottedPoints plotted;
  for (const Series& one : series) {
    require_points(one);
    plotted.points.push_back(showable(one, options));
    plotted.given += one.x.size();
    plotted.kept += plotted.points.back().size();
    for (const Point& point : plotted.points.back()) {
      plotted.x.include(point.x);
      plotted.y.include(point.y);
    }
  }
  if (plotted.kept == 0)
    fail(Code::usage, "\"{}\" has no points to draw: none of {} can be shown on its axes", options.title,
         plotted.given);
  return plotted;
}

}  // namespace

Figure curves(const std::vector<Series>& series, const CurvesOptions& options) {
  const PlottedPoints plotted = collect(series, options);
  std::vector<std::string> names;
  for (const Series& one : series) names.push_back(shorten(clean_text(one.name), longest_name));
  Drawing drawing(options.title, {.plot_width = 490,
                                  .plot_height = 290,
                                  .left = options.y_label.empty() ? 74 : 98,
                                  .right = 20,
                                  .bottom = options.x_label.empty() ? 40 : 64,
                                  .x_label = options.x_label,
                                  .y_label = options.y_label,
                                  .legend = names});
  set_axis(drawing, 'x', plotted.x, options.x_scale);
  set_axis(drawing, 'y', plotted.y, options.y_scale);
  drawing.line("set grid back linecolor rgb faint linewidth 1 dashtype 1");
  std::string plots;
  for (std::size_t k = 0; k < series.size(); ++k) {
    const std::vector<Point>& points = plotted.points[k];
    if (points.empty()) continue;
    const std::string file = fmt::format("curve{}", k);
    drawing.data(file, rows_of(thinned(points, plotted.x, options.x_scale)));
    plots +=
        fmt::format("{}'{}' with {} linecolor rgb '{}' linewidth 2 dashtype {} notitle", plots.empty() ? "plot " : ", ",
                    file, style_of(series[k], points.size()), series_colour(k), series_dash(k));
  }
  drawing.line("{}", plots);
  Figure figure = drawing.render();
  if (plotted.kept < plotted.given)
    figure.note = fmt::format("A logarithmic axis cannot show non-positive points: {} of {} are omitted.",
                              plotted.given - plotted.kept, plotted.given);
  return figure;
}

Series histogram_outline(const std::string& name, const Histogram& histogram, std::size_t samples) {
  Series line{.name = name, .stroke = Stroke::line};
  const auto add = [&](double x, double y) {
    line.x.push_back(x);
    line.y.push_back(y);
  };
  const Index bins = std::ssize(histogram.counts);
  add(histogram.edge(0), 0);
  for (Index b = 0; b < bins; ++b) {
    const double share = static_cast<double>(histogram.counts[static_cast<std::size_t>(b)]) /
                         static_cast<double>(std::max<std::size_t>(samples, 1));
    add(histogram.edge(b), share);
    add(histogram.edge(b + 1), share);
  }
  add(histogram.edge(bins), 0);
  return line;
}

}  // namespace widelimit
