#include "app/machine_pages.hpp"

#include "widelimit/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit::app {

namespace {

/// Rows: what samples are; columns: what they are taken for; each cell the share of its row.
Illustration confusion_map(const NamedScore& named, const std::vector<std::string>& classes) {
  const auto& [name, score] = named;
  const auto count = static_cast<Index>(classes.size());
  Matrix<double> shares(count, count);
  std::vector<Band> bands;
  for (Index i = 0; i < count; ++i) {
    const auto& row = score.confusion[static_cast<std::size_t>(i)];
    Index total = 0;
    for (const Index entry : row) total += entry;
    for (Index j = 0; j < count && total > 0; ++j) {
      shares(i, j) = static_cast<double>(row[static_cast<std::size_t>(j)]) / static_cast<double>(total);
    }
    bands.push_back({classes[static_cast<std::size_t>(i)], i + 1});
  }
  const HeatMapOptions options{.title = fmt::format("Who is taken for whom, {}", name),
                               .row_label = "class",
                               .column_label = "taken for",
                               .value_label = "share of the class",
                               .row_bands = bands,
                               .column_bands = bands};
  return {.figure = heat_map(shares.view(), options), .caption = score_text(score)};
}

void add_scores(Page& page, const std::vector<NamedScore>& scores, const std::vector<std::string>& classes) {
  std::vector<Illustration> maps;
  for (const NamedScore& named : scores) {
    page.paragraph(fmt::format("{}: {}", named.first, score_text(named.second)));
    if (!named.second.confusion.empty()) maps.push_back(confusion_map(named, classes));
  }
  if (!maps.empty()) page.section("Confusion").figures(maps);
}

}  // namespace

void write_fit_page(const std::filesystem::path& path, const std::string& title, const Summary& summary,
                    const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                    const nlohmann::ordered_json& settings) {
  Page page(title, fmt::format("The fit ended: {}. {}", text(summary.ending), summary.message));
  page.section("Fit").table(summary_table(summary));
  add_scores(page, scores, classes);
  page.settings(settings).write(path);
}

void write_prediction_page(const std::filesystem::path& path, const std::string& title,
                           const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                           const nlohmann::ordered_json& settings) {
  Page page(title, "What a fitted model says of samples.");
  add_scores(page, scores, classes);
  page.settings(settings).write(path);
}

void write_tune_page(const std::filesystem::path& path, const std::string& choice,
                     const std::vector<Candidate>& candidates, const Table& table,
                     const nlohmann::ordered_json& settings) {
  std::vector<Series> lines;
  for (const Candidate& candidate : candidates) {
    std::vector<TunePoint> points = candidate.points;
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.lambda < b.lambda; });
    Series line{.name = candidate.name};
    for (const TunePoint& point : points) {
      if (!point.error()) continue;
      line.x.push_back(point.lambda);
      line.y.push_back(*point.error());
    }
    lines.push_back(std::move(line));
  }
  Page page("Choice of λ", choice);
  page.section("Error by λ")
      .figure({.figure = curves(
                   lines, {.title = "Error by λ", .x_label = "λ", .y_label = "error", .x_scale = AxisScale::log})});
  page.section("All of them").table(table).settings(settings).write(path);
}

}  // namespace widelimit::app
