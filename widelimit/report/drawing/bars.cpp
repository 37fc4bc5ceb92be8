#include "widelimit/report/drawing/figures.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"
#include "widelimit/report/text.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

/// Fraction of a group's height that is covered by bars.
constexpr double group_height = 0.76;
constexpr std::size_t longest_label = 34;
/// Bars are clipped here, since gnuplot's arithmetic overflows beyond; the printed values are not.
constexpr double longest_bar = 1e300;

void require_values(const std::vector<std::string>& categories, const std::vector<BarSeries>& series,
                    const BarsOptions& options) {
  if (categories.empty() || series.empty()) fail(Code::usage, "\"{}\" has no bars to draw", options.title);
  for (const BarSeries& one : series) {
    if (one.values.size() != categories.size())
      fail(Code::usage, "bars \"{}\" have {} values for {} categories", one.name, one.values.size(), categories.size());
    for (std::size_t i = 0; i < one.values.size(); ++i)
      if (!std::isfinite(one.values[i]))
        fail(Code::numerical, "bar \"{}\" of \"{}\" is {}: only finite numbers can be drawn", categories[i], one.name,
             one.values[i]);
    if (!one.intervals.empty() && one.intervals.size() != categories.size())
      fail(Code::usage, "bars \"{}\" have {} intervals for {} categories", one.name, one.intervals.size(),
           categories.size());
    for (const auto& [low, high] : one.intervals)
      if (!std::isfinite(low) || !std::isfinite(high))
        fail(Code::numerical, "an interval of \"{}\" is {} … {}: only finite numbers can be drawn", one.name, low,
             high);
  }
}

/// Vertical position of bar i of series k.
struct Slot {
  double top = 0;
  double thickness = 0;
};

Slot slot_of(std::size_t i, std::size_t k, std::size_t count) {
  const double thickness = group_height / static_cast<double>(count);
  return {static_cast<double>(i) + 0.5 - group_height / 2 + static_cast<double>(k) * thickness, thickness};
}

double drawn(double value) { return std::clamp(value, -longest_bar, longest_bar); }

/// Returns the interval of bar i, or the bar's end if there is none.
std::pair<double, double> interval_of(const BarSeries& series, std::size_t i) {
  if (series.intervals.empty()) return {drawn(series.values[i]), drawn(series.values[i])};
  return {drawn(series.intervals[i].first), drawn(series.intervals[i].second)};
}

/// Writes the whiskers of series k to a data file (x y xlow xhigh) and returns its name.
std::string draw_intervals(const Drawing& drawing, const BarSeries& series, std::size_t k, std::size_t count) {
  std::string whiskers;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const auto [top, thickness] = slot_of(i, k, count);
    const auto [low, high] = interval_of(series, i);
    whiskers += fmt::format("{} {} {} {}\n", drawn(series.values[i]), top + thickness / 2, low, high);
  }
  const std::string file = fmt::format("whiskers{}", k);
  drawing.data(file, whiskers);
  return file;
}

/// Draws series k of `count`: boxes to a data file (x y xlow xhigh ylow yhigh), numbers as labels. Returns the file
/// name.
std::string draw_series(Drawing& drawing, const BarSeries& series, std::size_t k, std::size_t count) {
  std::string boxes;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const double end = drawn(series.values[i]);
    const auto [low, high] = interval_of(series, i);
    const auto [top, thickness] = slot_of(i, k, count);
    const double middle = top + thickness / 2;
    boxes += fmt::format("{} {} {} {} {} {}\n", end, middle, std::min(end, 0.0), std::max(end, 0.0),
                         top + 0.05 * thickness, top + 0.95 * thickness);
    drawing.line("set label {} at first {},{} {} textcolor rgb ink", quote(fmt::format("{:.4g}", series.values[i])),
                 end < 0 ? std::min(end, low) : std::max(end, high), middle,
                 end < 0 ? "right offset -0.6,0" : "left offset 0.6,0");
  }
  const std::string file = fmt::format("bars{}", k);
  drawing.data(file, boxes);
  return file;
}

/// Sets the value axis, which includes zero and has space for the number of the longest bar.
void set_values_axis(Drawing& drawing, const std::vector<BarSeries>& series) {
  double low = 0.0;
  double high = 0.0;
  for (const BarSeries& one : series) {
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      const auto [least, most] = interval_of(one, i);
      low = std::min({low, drawn(one.values[i]), least});
      high = std::max({high, drawn(one.values[i]), most});
    }
  }
  if (low == 0.0 && high == 0.0) high = 1.0;
  const double padding = 0.14 * (high - low);
  drawing.line("set xrange [{}:{}]", low < 0 ? low - padding : 0.0, high + padding);
}

void set_categories(Drawing& drawing, const std::vector<std::string>& labels) {
  std::string tics;
  for (std::size_t i = 0; i < labels.size(); ++i)
    tics += fmt::format("{}{} {}", i == 0 ? "" : ", ", quote_tic(labels[i]), static_cast<double>(i) + 0.5);
  drawing.line("set ytics ({}) scale 0", tics);
  drawing.line("set yrange [{}:0]", labels.size());
}

}  // namespace

Figure bars(const std::vector<std::string>& categories, const std::vector<BarSeries>& series,
            const BarsOptions& options) {
  require_values(categories, series, options);
  std::vector<std::string> labels;
  std::vector<std::string> names;
  int widest = 0;
  for (const std::string& category : categories) {
    labels.push_back(shorten(clean_text(category), longest_label));
    widest = std::max(widest, text_width(labels.back()));
  }
  for (const BarSeries& one : series) names.push_back(shorten(clean_text(one.name), longest_label));
  const std::size_t group = 12 + 22 * series.size();
  const int left = 30 + widest;
  Drawing drawing(options.title, {.plot_width = std::max(580 - left, 280),
                                  .plot_height = static_cast<int>(std::min<std::size_t>(group * labels.size(), 4000)),
                                  .left = left,
                                  .right = 20,
                                  .bottom = options.value_label.empty() ? 36 : 60,
                                  .x_label = options.value_label,
                                  .legend = names,
                                  .legend_weight = 9});
  set_values_axis(drawing, series);
  set_categories(drawing, labels);
  drawing.line("set border 0");
  drawing.line("set grid xtics back linecolor rgb faint linewidth 1 dashtype 1");
  drawing.line("set xtics scale 0");
  drawing.line("set arrow from first 0, graph 0 to first 0, graph 1 nohead front linecolor rgb ink");
  std::string plots;
  for (std::size_t k = 0; k < series.size(); ++k)
    plots += fmt::format("{}'{}' using 1:2:3:4:5:6 with boxxyerror fillstyle solid noborder linecolor rgb '{}' notitle",
                         k == 0 ? "plot " : ", ", draw_series(drawing, series[k], k, series.size()), series_colour(k));
  for (std::size_t k = 0; k < series.size(); ++k)
    if (!series[k].intervals.empty())
      plots += fmt::format(", '{}' using 1:2:3:4 with xerrorbars pointtype 0 linecolor rgb ink linewidth 1.5 notitle",
                           draw_intervals(drawing, series[k], k, series.size()));
  drawing.line("{}", plots);
  return drawing.render();
}

}  // namespace widelimit
