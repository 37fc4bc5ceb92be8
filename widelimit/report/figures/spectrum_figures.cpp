#include "widelimit/report/figures/spectrum_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

/// Lower limit of the logarithmic axis, below which losses are dominated by rounding.
constexpr double least_share = 1e-14;
constexpr int dimension_points = 61;

std::vector<double> numbered(std::size_t count) {
  std::vector<double> places;
  for (std::size_t i = 0; i < count; ++i) places.push_back(static_cast<double>(i + 1));
  return places;
}

std::vector<double> shares_of(const std::vector<double>& values, double whole) {
  std::vector<double> shares;
  for (const double value : values) shares.push_back(std::max(value / whole, least_share));
  return shares;
}

/// Returns positions of the steps on a logarithmic axis; step 0 is at ½.
std::vector<double> step_places(const ModeDynamics& modes) {
  std::vector<double> places;
  for (const Index step : modes.steps) places.push_back(step == 0 ? 0.5 : static_cast<double>(step));
  return places;
}

std::vector<double> column_of(const Matrix<double>& values, Index column, double least) {
  std::vector<double> result;
  for (Index row = 0; row < values.rows(); ++row) result.push_back(std::max(values(row, column), least));
  return result;
}

}  // namespace

Illustration eigenvalue_figure(const KernelSpectrum& spectrum) {
  const std::vector<double>& all = spectrum.eigenvalues();
  const std::vector<double> shown(all.begin(), all.begin() + std::max<Index>(spectrum.rank(), 1));
  return {.figure = curves({{.name = "eigenvalues", .x = numbered(shown.size()), .y = shown, .stroke = Stroke::line}},
                           {.title = "Eigenvalues of the kernel",
                            .x_label = "direction",
                            .y_label = "eigenvalue",
                            .x_scale = AxisScale::log,
                            .y_scale = AxisScale::log}),
          .caption = spectrum.rank() < spectrum.samples()
                         ? fmt::format("{} eigenvalues at the level of rounding errors are omitted.",
                                       spectrum.samples() - spectrum.rank())
                         : ""};
}

Illustration energy_figure(const std::vector<NamedLabels>& labels) {
  std::vector<Series> lines;
  for (const NamedLabels& one : labels) {
    const std::vector<double> shares = one.labels.cumulative_energy();
    lines.push_back({.name = one.name, .x = numbered(shares.size()), .y = shares, .stroke = Stroke::line});
  }
  return {.figure = curves(lines, {.title = "Cumulative energy of the labels",
                                   .x_label = "direction",
                                   .y_label = "cumulative fraction of the labels",
                                   .x_scale = AxisScale::log}),
          .caption = "The first directions are learned first. Random labels have the same share in every direction."};
}

Illustration loss_figure(const std::vector<NamedLabels>& labels, const std::vector<double>& times) {
  std::vector<Series> lines;
  for (const NamedLabels& one : labels) {
    Series line{.name = one.name, .stroke = Stroke::line};
    for (const double time : times) {
      if (!(time > 0) || std::isinf(time)) continue;
      line.x.push_back(time);
      line.y.push_back(std::max(one.labels.loss(time) / one.labels.total(), least_share));
    }
    lines.push_back(std::move(line));
  }
  return {.figure = curves(lines, {.title = "Predicted loss",
                                   .x_label = "time",
                                   .y_label = "loss, relative to the start",
                                   .x_scale = AxisScale::log,
                                   .y_scale = AxisScale::log}),
          .caption = "Gradient flow of ½‖u − y‖² at infinite width."};
}

Illustration dimension_figure(const KernelSpectrum& spectrum) {
  Series line{.name = "effective dimension", .stroke = Stroke::line};
  const double largest = spectrum.eigenvalues().front();
  const double least = spectrum.rank() > 0 ? spectrum.eigenvalues()[usize(spectrum.rank() - 1)] : largest;
  for (int k = 0; k < dimension_points; ++k) {
    const double ridge = least / 10 * std::pow(100 * largest / least, static_cast<double>(k) / (dimension_points - 1));
    line.x.push_back(ridge);
    line.y.push_back(spectrum.effective_dimension(ridge));
  }
  return {.figure = curves({line}, {.title = "Effective dimension",
                                    .x_label = "ridge on the diagonal",
                                    .y_label = "degrees of freedom",
                                    .x_scale = AxisScale::log})};
}

Illustration training_figure(const std::vector<NamedModes>& networks) {
  std::vector<Series> lines;
  for (const NamedModes& one : networks) {
    const std::vector<double> places = step_places(*one.modes);
    const double whole = one.modes->loss.front();
    lines.push_back({.name = one.name + ", predicted",
                     .x = places,
                     .y = shares_of(one.modes->predicted_loss, whole),
                     .stroke = Stroke::line});
    lines.push_back({.name = fmt::format("{}, width {}", one.name, one.modes->width),
                     .x = places,
                     .y = shares_of(one.modes->loss, whole),
                     .stroke = Stroke::rings});
  }
  return {.figure = curves(lines, {.title = "Measured and predicted loss",
                                   .x_label = "step",
                                   .y_label = "loss, relative to the start",
                                   .x_scale = AxisScale::log,
                                   .y_scale = AxisScale::log}),
          .caption = "Rings: the network. The start stands at step ½."};
}

Illustration mode_figure(const NamedModes& network, const std::vector<Index>& modes) {
  const ModeDynamics& found = *network.modes;
  const double least = least_share * std::sqrt(found.loss.front());
  std::vector<Series> lines;
  for (const Index mode : modes) {
    lines.push_back({.name = fmt::format("{}, predicted", mode + 1),
                     .x = step_places(found),
                     .y = column_of(found.predicted, mode, least),
                     .stroke = Stroke::line});
    lines.push_back({.name = fmt::format("{}, network", mode + 1),
                     .x = step_places(found),
                     .y = column_of(found.measured, mode, least),
                     .stroke = Stroke::rings});
  }
  return {.figure = curves(lines, {.title = fmt::format("Error by direction, {} labels", network.name),
                                   .x_label = "step",
                                   .y_label = "error in the direction",
                                   .x_scale = AxisScale::log,
                                   .y_scale = AxisScale::log}),
          .caption = "Directions by their number, that of the largest eigenvalue is 1."};
}

Illustration rate_figure(const std::vector<NamedModes>& networks) {
  std::vector<Series> lines;
  std::vector<double> all;
  for (const NamedModes& one : networks) {
    Series points{.name = one.name, .stroke = Stroke::rings};
    for (const ModeRate& rate : one.modes->rates) {
      if (!(rate.fitted > 0)) continue;
      points.x.push_back(rate.eigenvalue);
      points.y.push_back(rate.fitted);
      all.push_back(rate.eigenvalue);
    }
    if (!points.x.empty()) lines.push_back(std::move(points));
  }
  if (!all.empty()) {
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    lines.insert(lines.begin(), {.name = "equal", .x = {*least, *most}, .y = {*least, *most}, .stroke = Stroke::line});
  }
  return {.figure = curves(lines, {.title = "Fitted rates",
                                   .x_label = "eigenvalue of the limit",
                                   .y_label = "fitted to the network",
                                   .x_scale = AxisScale::log,
                                   .y_scale = AxisScale::log}),
          .caption = "One ring for each direction whose error fell far enough, or long enough, to be fitted."};
}

std::vector<Index> strongest_modes(const ModeDynamics& network, Index count) {
  std::vector<Index> modes(usize(network.measured.cols()));
  std::iota(modes.begin(), modes.end(), Index{0});
  const auto last = modes.begin() + std::min(count, std::ssize(modes));
  std::partial_sort(modes.begin(), last, modes.end(), [&](Index a, Index b) {
    const double first = network.measured(0, a);
    const double second = network.measured(0, b);
    return first != second ? first > second : a < b;
  });
  modes.erase(last, modes.end());
  std::sort(modes.begin(), modes.end());
  return modes;
}

Table rate_table(const std::vector<NamedModes>& networks, Index count) {
  Table table{
      .columns = {"labels", "direction", "share", "eigenvalue", "fitted", "from", "to", "fitted/eigenvalue", "points"}};
  for (const NamedModes& one : networks) {
    const std::vector<Index> modes = strongest_modes(*one.modes, count);
    for (const ModeRate& rate : one.modes->rates) {
      if (!std::binary_search(modes.begin(), modes.end(), rate.mode)) continue;
      table.rows.push_back({one.name, std::int64_t{rate.mode + 1}, rate.share, rate.eigenvalue, rate.fitted,
                            rate.interval ? Cell(rate.interval->first) : Cell(),
                            rate.interval ? Cell(rate.interval->second) : Cell(), rate.fitted / rate.eigenvalue,
                            std::int64_t{rate.points}});
    }
  }
  return table;
}

}  // namespace widelimit
