#include "widelimit/report/figures/machine_figures.hpp"

#include "widelimit/analysis/margins.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/report/drawing/figures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit {

namespace {

template <typename Error>
Series lambda_line(std::string name, const LambdaPath& path, const Error& error) {
  std::vector<TunePoint> points = path.points;
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.lambda < b.lambda; });
  Series line{.name = std::move(name)};
  for (const TunePoint& point : points) {
    const std::optional<double> value = error(point);
    if (!value) continue;
    line.x.push_back(point.lambda);
    line.y.push_back(*value);
  }
  return line;
}

}  // namespace

Illustration confusion_map(const std::vector<std::vector<Index>>& counts, const std::vector<std::string>& classes,
                           const std::string& title) {
  const auto count = static_cast<Index>(classes.size());
  if (std::ssize(counts) != count) fail(Code::usage, "{} rows of counts for {} classes", counts.size(), count);
  Matrix<double> shares(count, count);
  std::vector<Band> bands;
  Index samples = 0;
  Index right = 0;
  for (Index i = 0; i < count; ++i) {
    const auto& row = counts[static_cast<std::size_t>(i)];
    if (std::ssize(row) != count) fail(Code::usage, "{} counts of class {}, of {} classes", row.size(), i, count);
    Index total = 0;
    for (const Index entry : row) total += entry;
    for (Index j = 0; j < count && total > 0; ++j) {
      shares(i, j) = static_cast<double>(row[static_cast<std::size_t>(j)]) / static_cast<double>(total);
    }
    samples += total;
    right += row[static_cast<std::size_t>(i)];
    bands.push_back({classes[static_cast<std::size_t>(i)], i + 1});
  }
  const HeatMapOptions options{.title = title,
                               .row_label = "true class",
                               .column_label = "predicted class",
                               .value_label = "fraction of the class",
                               .row_bands = bands,
                               .column_bands = bands};
  return {.figure = heat_map(shares.view(), options),
          .caption = fmt::format("{} of {} samples on the diagonal.", right, samples),
          .alt = fmt::format("{}: confusion matrix of {} classes", title, count)};
}

Illustration roc_curves(const std::vector<std::pair<std::string, Roc>>& parts, const std::string& positive) {
  std::vector<Series> lines;
  std::string areas;
  for (const auto& part : parts) {
    Series line{.name = part.first, .stroke = Stroke::line};
    for (const RocPoint& point : part.second.points) {
      line.x.push_back(point.false_positive);
      line.y.push_back(point.true_positive);
    }
    lines.push_back(std::move(line));
    areas += fmt::format("{}{} {:.6g}", areas.empty() ? "" : ", ", part.first, part.second.area);
  }
  lines.push_back({.name = "chance", .x = {0, 1}, .y = {0, 1}, .stroke = Stroke::line});
  return {.figure = curves(lines, {.title = "ROC",
                                   .x_label = "false positive rate, " + positive,
                                   .y_label = "true positive rate, " + positive}),
          .caption =
              fmt::format("Area under the curve: {}. It is the probability that a sample of class {} scores above one "
                          "of the other class.",
                          areas, positive),
          .alt = "Receiver operating characteristic; area " + areas};
}

Illustration reliability_curves(const std::vector<std::pair<std::string, ProbabilityScores>>& parts) {
  std::vector<Series> lines;
  std::string errors;
  for (const auto& part : parts) {
    Series line{.name = part.first};
    for (const ReliabilityBin& bin : part.second.bins) {
      if (bin.samples == 0) continue;
      line.x.push_back(bin.confidence);
      line.y.push_back(bin.accuracy);
    }
    lines.push_back(std::move(line));
    errors += fmt::format("{}{} {:.4g}", errors.empty() ? "" : ", ", part.first, part.second.calibration_error);
  }
  lines.push_back({.name = "calibrated", .x = {0, 1}, .y = {0, 1}, .stroke = Stroke::line});
  return {.figure = curves(lines, {.title = "Reliability",
                                   .x_label = "probability of the most probable class",
                                   .y_label = "fraction of that class"}),
          .caption = fmt::format("Expected calibration error: {}.", errors),
          .alt = "Reliability curve; expected calibration error " + errors};
}

Illustration margin_histogram(const std::vector<std::pair<std::string, std::vector<double>>>& parts) {
  std::vector<std::vector<double>> values;
  for (const auto& part : parts) values.push_back(part.second);
  const std::vector<Histogram> counted = histograms(values);
  if (counted.empty()) fail(Code::usage, "there are no margins to draw");
  std::vector<Series> lines;
  std::string wrong;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    lines.push_back(histogram_outline(parts[p].first, counted[p], values[p].size()));
    const auto below = std::count_if(values[p].begin(), values[p].end(), [](double margin) { return margin <= 0; });
    wrong += fmt::format("{}{} {} of {}", wrong.empty() ? "" : ", ", parts[p].first, below, values[p].size());
  }
  return {.figure = curves(lines, {.title = "Margins", .x_label = "margin", .y_label = "fraction of samples"}),
          .caption = "At 0 or below: " + wrong + ".",
          .alt = "Histogram of margins; at 0 or below: " + wrong};
}

Illustration error_by_lambda(const std::vector<LambdaPath>& paths, const std::string& method,
                             std::optional<std::pair<std::size_t, std::size_t>> chosen) {
  std::vector<Series> lines;
  const auto held_out = [](const TunePoint& point) { return point.error(); };
  const auto training = [](const TunePoint& point) { return point.training_error(); };
  for (const LambdaPath& path : paths) {
    lines.push_back(lambda_line(paths.size() == 1 ? method : path.name, path, held_out));
  }
  if (paths.size() == 1) {
    Series line = lambda_line("training", paths.front(), training);
    if (!line.x.empty()) lines.push_back(std::move(line));
  }
  Illustration picture;
  if (chosen) {
    const LambdaPath& path = paths.at(chosen->first);
    const TunePoint& point = path.points.at(chosen->second);
    if (const auto error = point.error()) {
      lines.push_back({.name = "chosen", .x = {point.lambda}, .y = {*error}, .stroke = Stroke::rings});
      const std::string kernel = paths.size() == 1 ? "" : fmt::format(" ({})", path.name);
      picture.caption = fmt::format("Chosen: λ = {:.4g}, {} error {:.4g}{}.", point.lambda, method, *error, kernel);
    }
  }
  const std::string title = paths.size() == 1 ? "Error by λ, " + paths.front().name : "Error by λ";
  picture.figure = curves(lines, {.title = title, .x_label = "λ", .y_label = "error", .x_scale = AxisScale::log});
  picture.alt = title + " on a logarithmic axis. " + picture.caption;
  return picture;
}

}  // namespace widelimit
