#include "widelimit/report/figures/rank_figure.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"
#include "widelimit/report/text.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr std::size_t longest_name = 28;
/// Pixels per row below the axis: group bars, then names.
constexpr double row_height = 22;

/// Draws the first half of the names on the left, the others on the right, the outermost ranks on top.
void draw_names(Drawing& drawing, const std::vector<std::string>& names, const RankComparison& found, double below,
                double low, double high) {
  const std::vector<std::size_t> order = found.order();
  const std::size_t half = (order.size() + 1) / 2;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const bool left = place < half;
    const double rank = found.ranks[order[place]];
    const double y = below + static_cast<double>(left ? place : order.size() - 1 - place);
    const double end = left ? low : high;
    drawing.line("set arrow from first {},0 to first {},{} nohead linecolor rgb ink linewidth 1", rank, rank, y);
    drawing.line("set arrow from first {},{} to first {},{} nohead linecolor rgb ink linewidth 1", rank, y, end, y);
    const std::string text = fmt::format("{} ({:.2f})", shorten(clean_text(names[order[place]]), longest_name), rank);
    drawing.line("set label {} at first {},{} {} textcolor rgb ink", quote(text), end, y,
                 left ? "right offset -0.6,0" : "left offset 0.6,0");
  }
}

}  // namespace

Illustration critical_difference_diagram(const std::vector<std::string>& names, const RankComparison& found) {
  if (names.size() != found.ranks.size()) {
    fail(Code::usage, "there are {} names for {} ranks", names.size(), found.ranks.size());
  }
  const auto groups = found.groups();
  const std::vector<std::size_t> order = found.order();
  int widest = 0;
  for (const std::string& name : names) widest = std::max(widest, text_width(shorten(name, longest_name) + " (0.00)"));
  const double below = static_cast<double>(groups.size()) * 0.5 + 1;
  const std::size_t rows = (names.size() + 1) / 2;
  const double depth = below + static_cast<double>(rows);
  const auto [least, most] = std::minmax_element(found.ranks.begin(), found.ranks.end());
  const double low = std::floor(*least);
  const double high = std::max(std::ceil(*most), low + 1);
  const std::string title = "Average ranks and their critical difference";
  Drawing drawing(title, {.plot_width = std::max(720 - 2 * widest, 260),
                          .plot_height = static_cast<int>(row_height * (depth + 1)),
                          .left = widest + 20,
                          .right = widest + 20,
                          .bottom = 10});
  drawing.line("set xrange [{}:{}]", low, high);
  drawing.line("set yrange [{}:-1]", depth);
  drawing.line("set border 0");
  drawing.line("unset ytics");
  drawing.line("unset xtics");
  drawing.line("set arrow from first {},0 to first {},0 nohead linecolor rgb ink linewidth 2", low, high);
  for (double tic = low; tic <= high; ++tic) {
    drawing.line("set label {} at first {},-0.7 center textcolor rgb ink", quote(fmt::format("{:g}", tic)), tic);
    drawing.line("set arrow from first {0},0 to first {0},-0.25 nohead linecolor rgb ink linewidth 1", tic);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double y = 0.5 * static_cast<double>(g + 1);
    drawing.line("set arrow from first {},{} to first {},{} nohead linecolor rgb '{}' linewidth 5",
                 found.ranks[order[groups[g].first]] - 0.02, y, found.ranks[order[groups[g].second]] + 0.02, y,
                 series_colour(0));
  }
  draw_names(drawing, names, found, below, low, high);
  drawing.line("plot NaN notitle");
  return {.figure = drawing.render(),
          .caption = fmt::format(
              "Mean rank over all sets, 1 is best. Lines connect classifiers whose ranks differ by less than Nemenyi's "
              "critical difference of {:.2f} (5 %). Friedman's test that all are equal: p = {:.2g}.",
              found.critical_difference, found.p)};
}

}  // namespace widelimit
