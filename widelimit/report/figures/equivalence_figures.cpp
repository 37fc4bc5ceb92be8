#include "widelimit/report/figures/equivalence_figures.hpp"

#include "widelimit/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

std::vector<double> places_of(const Equivalence& result) { return {result.steps.begin(), result.steps.end()}; }

std::vector<double> column_of(const Matrix<double>& values, Index column) {
  std::vector<double> result;
  for (Index row = 0; row < values.rows(); ++row) result.push_back(values(row, column));
  return result;
}

bool narrower(const EquivalencePath& a, const EquivalencePath& b) { return a.width < b.width; }

const EquivalencePath& widest(const Equivalence& result) {
  return *std::max_element(result.paths.begin(), result.paths.end(), narrower);
}

/// Returns a power law of this slope through (x, y), over the widths.
Series power_line(const std::string& name, double slope, double x, double y, double first, double last) {
  Series line{.name = name, .x = {first, last}, .stroke = Stroke::line};
  for (const double place : line.x) line.y.push_back(y * std::pow(place / x, slope));
  return line;
}

struct WidthMeans {
  Index width = 0;
  Index count = 0;
  double difference = 0, kernel = 0, movement = 0, train = 0, test = 0, last = 0, loss = 0, machine_loss = 0;
  double seconds = 0;
};

/// Returns means over completed runs, by width, in order of first occurrence.
std::vector<WidthMeans> means_by_width(const Equivalence& result) {
  std::vector<WidthMeans> all;
  for (const EquivalenceRun& run : result.runs) {
    if (!run.trouble.empty()) continue;
    auto place = std::find_if(all.begin(), all.end(), [&](const WidthMeans& one) { return one.width == run.width; });
    if (place == all.end()) place = all.insert(all.end(), WidthMeans{.width = run.width});
    ++place->count;
    place->difference += run.difference;
    place->kernel += run.kernel_part;
    place->movement += run.movement_part;
    place->train += run.train_difference;
    place->test += run.test_difference;
    place->last += run.final_difference;
    place->loss += run.loss;
    place->machine_loss += run.machine_loss;
    place->seconds += run.seconds;
  }
  for (WidthMeans& one : all) {
    for (double* value : {&one.difference, &one.kernel, &one.movement, &one.train, &one.test, &one.last, &one.loss,
                          &one.machine_loss}) {
      *value /= static_cast<double>(one.count);
    }
  }
  return all;
}

}  // namespace

Illustration equivalence_outputs(const Equivalence& result) {
  const std::vector<double> x = places_of(result);
  const EquivalencePath& wide = widest(result);
  const EquivalencePath& narrow = *std::min_element(result.paths.begin(), result.paths.end(), narrower);
  std::vector<Series> lines;
  for (std::size_t k = 0; k < result.watched.size(); ++k) {
    const auto column = static_cast<Index>(k);
    const Index sample = result.watched[k];
    const auto add = [&](const std::string& label, const Matrix<double>& values) {
      lines.push_back({.name = fmt::format("sample {}, {}", sample, label),
                       .x = x,
                       .y = column_of(values, column),
                       .stroke = Stroke::line});
    };
    add("machine", wide.machine_outputs);
    add(fmt::format("width {}", wide.width), wide.outputs);
    if (narrow.width != wide.width) add(fmt::format("width {}", narrow.width), narrow.outputs);
  }
  return {.figure = curves(lines, {.title = "Outputs of network and machine", .x_label = "step", .y_label = "output"})};
}

Illustration equivalence_differences(const Equivalence& result) {
  std::vector<Series> lines;
  for (const EquivalencePath& path : result.paths) {
    lines.push_back({.name = fmt::format("width {}", path.width),
                     .x = places_of(result),
                     .y = path.difference,
                     .stroke = Stroke::line});
  }
  return {
      .figure = curves(
          lines, {.title = "Largest difference of network and machine", .x_label = "step", .y_label = "max |f − g|"}),
      .caption = "The first seed of each width, over all training and test points."};
}

Illustration equivalence_losses(const Equivalence& result) {
  const EquivalencePath& wide = widest(result);
  const std::vector<double> x = places_of(result);
  return {.figure = curves({{.name = "machine", .x = x, .y = wide.machine_loss, .stroke = Stroke::line},
                            {.name = fmt::format("width {}", wide.width), .x = x, .y = wide.loss}},
                           {.title = "Loss of network and machine", .x_label = "step", .y_label = "sum of losses"})};
}

Illustration difference_by_width(const Equivalence& result) {
  Series runs{.name = "networks", .stroke = Stroke::rings};
  for (const EquivalenceRun& run : result.runs) {
    if (!run.trouble.empty()) continue;
    runs.x.push_back(static_cast<double>(run.width));
    runs.y.push_back(run.difference);
  }
  std::vector<Series> lines{runs};
  const auto [least, most] = std::minmax_element(runs.x.begin(), runs.x.end());
  if (result.slope) {
    const double middle = std::sqrt(*least * *most);
    const double height = std::exp(result.slope->intercept + result.slope->slope * std::log(middle));
    lines.push_back(power_line(fmt::format("fitted, slope {:.2f}", result.slope->slope), result.slope->slope, middle,
                               height, *least, *most));
    lines.push_back(power_line("slope −½", -0.5, middle, height, *least, *most));
  }
  return {.figure = curves(lines, {.title = "Largest difference by width",
                                   .x_label = "width",
                                   .y_label = "max |f − g|",
                                   .x_scale = AxisScale::log,
                                   .y_scale = AxisScale::log}),
          .caption = fmt::format("Slope with 95 % interval: {}.", slope_text(result.slope))};
}

std::vector<Illustration> equivalence_figures(const Equivalence& result) {
  if (result.paths.empty()) fail(Code::usage, "no network completed its training; there is nothing to draw");
  return {equivalence_outputs(result), equivalence_differences(result), equivalence_losses(result),
          difference_by_width(result)};
}

std::string slope_text(const std::optional<LineFit>& slope) {
  if (!slope) return "none: a slope needs two widths that differ from their machine";
  if (!slope->interval) return fmt::format("{:.3f}, without an interval (it needs three networks)", slope->slope);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", slope->slope, slope->interval->first, slope->interval->second);
}

std::vector<std::string> slope_sentences(const Equivalence& result) {
  std::vector<std::string> sentences{
      fmt::format("Slope of log difference against log width: {}.", slope_text(result.slope))};
  if (!result.settled()) {
    std::string words = "Slope not settled:";
    for (const WidthSlope& local : result.local_slopes) {
      const std::string error = local.error ? fmt::format(" ± {:.2f}", *local.error) : "";
      words += fmt::format("{} {:.2f}{} from width {} to {}", words.back() == ':' ? "" : ",", local.slope, error,
                           local.from, local.to);
    }
    sentences.push_back(
        words + "; the widths do not lie on one line, so the slope at the widest ones is closest to the limit.");
  }
  if (!result.kernel_part.empty()) {
    sentences.push_back(
        fmt::format("Slope of the part due to random initialisation of the kernel: {}; due to its movement "
                    "in training: {}.",
                    slope_text(result.kernel_slope), slope_text(result.movement_slope)));
  }
  return sentences;
}

Table equivalence_table(const Equivalence& result) {
  Table table{.columns = {"width", "networks", "difference", "train", "test", "last step", "loss", "machine's loss",
                          "seconds"}};
  const bool parts = !result.kernel_part.empty();
  if (parts) table.columns.insert(table.columns.begin() + 3, {"kernel at start", "its movement"});
  for (const WidthMeans& one : means_by_width(result)) {
    std::vector<Cell> row{std::int64_t{one.width}, std::int64_t{one.count}, one.difference};
    if (parts) row.insert(row.end(), {one.kernel, one.movement});
    row.insert(row.end(),
               {one.train, one.test > 0 ? Cell(one.test) : Cell(), one.last, one.loss, one.machine_loss, one.seconds});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace widelimit
