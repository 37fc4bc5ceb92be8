#include "app/flow/ensemble_outcome.hpp"

#include "app/flow/times.hpp"
#include "app/kernel/kernel_file.hpp"

#include "widelimit/analysis/dynamics/loss_scheme.hpp"
#include "widelimit/report/csv.hpp"
#include "widelimit/report/html.hpp"
#include "widelimit/report/scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit::app {

namespace {

/// Largest number of bands on a page.
constexpr Index most_bands = 4;

double deviation(const Ensemble& found, Index t, Index sample) { return std::sqrt(found.variance(t, sample)); }

double mean_deviation(const Ensemble& found, Index t) {
  double sum = 0;
  for (Index i = 0; i < found.variance.cols(); ++i) sum += deviation(found, t, i);
  return sum / static_cast<double>(found.variance.cols());
}

/// Returns accuracy or mean squared error of the mean, or std::nullopt if the samples have no labels.
std::optional<double> score_at(const EnsembleOutcome& outcome, Index t) {
  const Index classes = outcome.train.labels.empty() ? 0 : std::ssize(outcome.train.class_names);
  const Scheme scheme = classes > 0 ? loss_scheme(LossKind::squared, classes) : Scheme::values;
  Matrix<double> mean(outcome.points.count(), outcome.ensemble.outputs, Content::unset);
  std::copy_n(outcome.ensemble.mean.view().row(t), mean.rows() * mean.cols(), mean.data());
  const auto found = score(scheme, classes, mean, outcome.points);
  if (!found) return std::nullopt;
  if (const auto* values = std::get_if<ValueScores>(&*found)) return values->squared_error;
  return std::get<ClassScores>(*found).accuracy();
}

const char* score_name(const EnsembleOutcome& outcome) {
  return outcome.train.labels.empty() ? "squared error" : "accuracy";
}

Table sample_table(const EnsembleOutcome& outcome) {
  const Ensemble& found = outcome.ensemble;
  Table table{.columns = {"time", "sample"}};
  for (Index o = 0; o < found.outputs; ++o) {
    table.columns.push_back(found.outputs == 1 ? "mean" : fmt::format("mean_{}", o));
  }
  table.columns.emplace_back("std");
  for (Index t = 0; t < std::ssize(found.times); ++t) {
    const double time = found.times[usize(t)];
    for (Index i = 0; i < found.variance.cols(); ++i) {
      std::vector<Cell> row{std::isinf(time) ? Cell(std::string("inf")) : Cell(time), static_cast<std::int64_t>(i)};
      for (Index o = 0; o < found.outputs; ++o) row.emplace_back(found.mean(t, i * found.outputs + o));
      row.emplace_back(deviation(found, t, i));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

/// Returns the only feature of a sample.
double abscissa(const Dataset& data, Index i) {
  return std::visit([&](const auto& rows) { return static_cast<double>(rows(i, 0)); },
                    data.view().dense("plots over one feature"));
}

/// Plots the mean and two standard deviations above and below it against the only feature of the samples.
Illustration band(const EnsembleOutcome& outcome, Index t) {
  const Ensemble& found = outcome.ensemble;
  std::vector<Index> order(usize(found.variance.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return abscissa(outcome.points, a) < abscissa(outcome.points, b); });
  std::vector<Series> lines{{.name = "mean", .stroke = Stroke::line},
                            {.name = "mean + 2 std", .stroke = Stroke::line},
                            {.name = "mean - 2 std", .stroke = Stroke::line},
                            {.name = "training samples", .stroke = Stroke::rings}};
  for (const Index i : order) {
    const double mean = found.mean(t, i * found.outputs);
    const double off = 2 * deviation(found, t, i);
    const std::array<double, 3> heights{mean, mean + off, mean - off};
    for (std::size_t line = 0; line < heights.size(); ++line) {
      lines[line].x.push_back(abscissa(outcome.points, i));
      lines[line].y.push_back(heights[line]);
    }
  }
  for (Index i = 0; i < outcome.train.count(); ++i) {
    lines[3].x.push_back(abscissa(outcome.train, i));
    lines[3].y.push_back(outcome.targets(i, 0));
  }
  return {.figure = curves(lines, {.title = fmt::format("Ensemble at time {}", time_text(found.times[usize(t)])),
                                   .x_label = "x",
                                   .y_label = "f"}),
          .caption = found.outputs > 1 ? "The first output." : ""};
}

}  // namespace

Table ensemble_table(const EnsembleOutcome& outcome) {
  const Ensemble& found = outcome.ensemble;
  Table table{.columns = {"time", "mean std"}};
  if (!found.times.empty() && score_at(outcome, 0)) {
    table.columns.push_back(fmt::format("{} of the mean", score_name(outcome)));
  }
  for (Index t = 0; t < std::ssize(found.times); ++t) {
    std::vector<Cell> row{time_text(found.times[usize(t)]), mean_deviation(found, t)};
    if (const auto score = score_at(outcome, t)) row.emplace_back(*score);
    table.rows.push_back(std::move(row));
  }
  return table;
}

nlohmann::ordered_json ensemble_json(const EnsembleOutcome& outcome, bool all) {
  const Ensemble& found = outcome.ensemble;
  std::vector<double> deviations;
  std::vector<double> scores;
  auto means = nlohmann::ordered_json::array();
  auto stds = nlohmann::ordered_json::array();
  for (Index t = 0; t < std::ssize(found.times); ++t) {
    deviations.push_back(mean_deviation(found, t));
    if (const auto score = score_at(outcome, t)) scores.push_back(*score);
    auto mean = nlohmann::ordered_json::array();
    std::vector<double> deviation_of;
    for (Index i = 0; i < found.variance.cols(); ++i) {
      const double* row = found.mean.view().row(t) + i * found.outputs;
      mean.push_back(std::vector<double>(row, row + found.outputs));
      deviation_of.push_back(deviation(found, t, i));
    }
    means.push_back(std::move(mean));
    stds.push_back(deviation_of);
  }
  nlohmann::ordered_json json{{"times", times_json(found.times)}, {"mean_std", deviations}};
  if (!scores.empty()) json[outcome.train.labels.empty() ? "squared_error" : "accuracy"] = scores;
  if (all) {
    json["mean"] = std::move(means);
    json["std"] = std::move(stds);
  }
  return json;
}

void write_ensemble(const std::filesystem::path& path, const EnsembleOutcome& outcome,
                    const nlohmann::ordered_json& settings) {
  if (path.extension() == ".csv") {
    write_csv(sample_table(outcome), path);
    return;
  }
  const Ensemble& found = outcome.ensemble;
  const Index count = std::ssize(found.times);
  const Index samples = found.variance.cols();
  Matrix<double> deviations(count, samples, Content::unset);
  for (Index t = 0; t < count; ++t) {
    for (Index i = 0; i < samples; ++i) deviations(t, i) = deviation(found, t, i);
  }
  std::vector<NamedArray> arrays{list_array("times", found.times),
                                 {"mean", found.mean.view(), {count, samples, found.outputs}},
                                 {"std", deviations.view(), {}}};
  if (found.covariance.rows() > 0) {
    arrays.push_back({"covariance", found.covariance.view(), {count, samples, samples}});
  }
  write_arrays(path, arrays, settings);
}

void write_ensemble_page(const std::filesystem::path& path, const EnsembleOutcome& outcome,
                         const nlohmann::ordered_json& settings) {
  Page page(fmt::format("Ensemble on {}", outcome.train.name),
            "Outputs of infinitely wide networks with random initial weights, trained by gradient flow on the squared "
            "loss.");
  const Index count = std::ssize(outcome.ensemble.times);
  if (outcome.points.shape.size() == 1) {
    std::vector<Illustration> bands;
    const Index shown = std::min(count, most_bands);
    for (Index k = 0; k < shown; ++k) bands.push_back(band(outcome, shown == 1 ? 0 : k * (count - 1) / (shown - 1)));
    page.section("Mean and two standard deviations").figures(bands);
  }
  page.section("Times").table(ensemble_table(outcome)).settings(settings).write(path);
}

}  // namespace widelimit::app
