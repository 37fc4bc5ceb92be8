#include "widelimit/report/figures/certificate_figures.hpp"

#include "widelimit/analysis/margins.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/report/drawing/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace widelimit {

namespace {

/// Returns the finite and positive radii, ascending: those that a logarithmic axis can show.
std::vector<double> shown_radii(const RadiusSeries& series) {
  std::vector<double> shown;
  std::copy_if(series.radii.begin(), series.radii.end(), std::back_inserter(shown),
               [](double radius) { return radius > 0 && std::isfinite(radius); });
  std::sort(shown.begin(), shown.end());
  return shown;
}

/// Returns the median of the positive radii; infinite if an attack failed for half of the samples or more.
std::optional<double> median_radius(const RadiusSeries& series) {
  std::vector<double> radii;
  std::copy_if(series.radii.begin(), series.radii.end(), std::back_inserter(radii), [](double r) { return r > 0; });
  if (radii.empty()) return std::nullopt;
  std::sort(radii.begin(), radii.end());
  return (radii[(radii.size() - 1) / 2] + radii[radii.size() / 2]) / 2;
}

std::string median_text(const RadiusSeries& series) {
  const std::optional<double> median = median_radius(series);
  if (!median) return {};
  return std::isfinite(*median) ? fmt::format("{} {:.3g}", series.name, *median)
                                : fmt::format("{} none for half of the samples", series.name);
}

struct RadiusRange {
  double low = HUGE_VAL;
  double high = 0;
  double low_median = HUGE_VAL;
  double high_median = 0;

  [[nodiscard]] bool spread() const { return high_median > 20 * low_median; }
};

RadiusRange range_of(const std::vector<RadiusSeries>& series) {
  RadiusRange range;
  for (const RadiusSeries& one : series) {
    const std::vector<double> shown = shown_radii(one);
    if (shown.empty()) continue;
    range.low = std::min(range.low, shown.front());
    range.high = std::max(range.high, shown.back());
    range.low_median = std::min(range.low_median, shown[shown.size() / 2]);
    range.high_median = std::max(range.high_median, shown[shown.size() / 2]);
  }
  if (range.high == 0) fail(Code::usage, "no radius is positive: there is no curve to draw");
  return range;
}

/// Returns a step function from `left` to `right` that decreases by one sample at each radius.
Series step_curve(const RadiusSeries& series, double left, double right) {
  Series line{.name = series.name, .stroke = Stroke::line};
  const auto count = static_cast<double>(series.radii.size());
  const auto positive = std::count_if(series.radii.begin(), series.radii.end(), [](double r) { return r > 0; });
  double share = static_cast<double>(positive) / count;
  const auto add = [&](double x) {
    line.x.push_back(x);
    line.y.push_back(share);
  };
  add(left);
  for (const double radius : shown_radii(series)) {
    add(radius);
    share -= 1 / count;
    if (share < 0.5 / count) share = 0;
    add(radius);
  }
  add(right);
  return line;
}

}  // namespace

RadiusSeries certified_radii(const std::string& name, const Certificates& certificates) {
  RadiusSeries series{.name = name, .radii = certificates.radius};
  for (std::size_t i = 0; i < series.radii.size(); ++i) {
    if (!certificates.correct[i]) series.radii[i] = 0;
  }
  return series;
}

RadiusSeries attacked_radii(const Certificates& certificates) {
  RadiusSeries series{.name = "attack", .radii = certificates.attack};
  for (std::size_t i = 0; i < series.radii.size(); ++i) {
    if (!certificates.correct[i]) series.radii[i] = 0;
  }
  return series;
}

Illustration certified_accuracy(const std::vector<RadiusSeries>& series) {
  const RadiusRange range = range_of(series);
  const bool spread = range.spread();
  std::vector<Series> lines;
  std::string medians;
  for (const RadiusSeries& one : series) {
    lines.push_back(step_curve(one, spread ? range.low / 2 : 0, range.high * 1.05));
    if (const std::string median = median_text(one); !median.empty()) {
      medians += (medians.empty() ? "" : ", ") + median;
    }
  }
  return {
      .figure = curves(lines, {.title = "Certified accuracy",
                               .x_label = "radius",
                               .y_label = "fraction of samples",
                               .x_scale = spread ? AxisScale::log : AxisScale::linear}),
      .caption =
          "Certified: no input within the radius has another class. Attack: none was found within the radius. Median "
          "radius: " +
          medians + ".",
      .alt = "Fraction of samples by radius, medians: " + medians};
}

Illustration radius_histogram(const std::vector<RadiusSeries>& series) {
  (void)range_of(series);
  std::vector<std::vector<double>> logarithms;
  for (const RadiusSeries& one : series) {
    logarithms.emplace_back();
    for (const double radius : shown_radii(one)) logarithms.back().push_back(std::log10(radius));
  }
  const std::vector<Histogram> counted = histograms(logarithms);
  std::vector<Series> lines;
  std::string without;
  for (std::size_t s = 0; s < series.size(); ++s) {
    Series line = histogram_outline(series[s].name, counted[s], logarithms[s].size());
    for (double& x : line.x) x = std::pow(10.0, x);
    lines.push_back(std::move(line));
    without += fmt::format("{}{} {} of {}", without.empty() ? "" : ", ", series[s].name,
                           series[s].radii.size() - logarithms[s].size(), series[s].radii.size());
  }
  return {
      .figure = curves(
          lines, {.title = "Radii", .x_label = "radius", .y_label = "fraction of samples", .x_scale = AxisScale::log}),
      .caption = "Without a positive and finite radius: " + without + ".",
      .alt = "Histogram of radii; without one: " + without};
}

}  // namespace widelimit
