#include "app/fit/machine_pages.hpp"

#include "app/fit/scores_text.hpp"

#include "widelimit/report/fit_summary.hpp"
#include "widelimit/report/html.hpp"

#include <fmt/format.h>

namespace widelimit::app {

namespace {

std::string margin_text(std::size_t classes) {
  if (classes == 2)
    return "The margin of a sample is y·g with its class y = ±1 and its score g. It is positive if the sample is "
           "classified correctly.";
  return "The margin of a sample is the score of its class minus the largest other score; with one-vs-one, the "
         "smallest score of its class against another. It is positive if the sample is classified correctly.";
}

}  // namespace

void add_scores(Page& page, const std::vector<NamedScore>& scores, const std::vector<std::string>& classes) {
  if (scores.empty()) return;
  std::vector<Illustration> maps;
  std::vector<std::pair<std::string, Roc>> curves;
  std::vector<std::pair<std::string, std::vector<double>>> distances;
  std::vector<std::pair<std::string, ProbabilityScores>> calibrations;
  page.section("Scores").table(scores_table(scores));
  for (const NamedScore& part : scores) {
    const auto& [name, score] = part;
    if (const std::string chance = chance_text(part, classes); !chance.empty()) {
      page.paragraph(fmt::format("{}: {}", name, chance));
    }
    for (const std::string& note : missing_scores(score, classes)) page.paragraph(fmt::format("{}: {}", name, note));
    const auto* found = std::get_if<ClassScores>(&score);
    if (found == nullptr) continue;
    Table each = class_table(*found, classes);
    each.caption = "Classes, " + name;
    page.table(each);
    if (found->roc) curves.emplace_back(name, *found->roc);
    if (found->probability) calibrations.emplace_back(name, *found->probability);
    if (!found->margins.empty()) distances.emplace_back(name, found->margins);
    if (classes.size() > 2) maps.push_back(confusion_map(found->confusion, classes, "Confusion matrix, " + name));
  }
  if (!maps.empty()) page.section("Confusion matrices").figures(maps);
  if (!calibrations.empty()) page.section("Calibration").figure(reliability_curves(calibrations));
  if (distances.empty()) return;
  page.section(curves.empty() ? "Margins" : "ROC and margins");
  std::vector<Illustration> pictures;
  if (!curves.empty()) pictures.push_back(roc_curves(curves, classes[1]));
  pictures.push_back(margin_histogram(distances));
  page.figures(pictures);
  page.paragraph(margin_text(classes.size()));
}

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
  Page page(title, "Predictions of a fitted model.");
  add_scores(page, scores, classes);
  page.settings(settings).write(path);
}

void write_tune_page(const std::filesystem::path& path, const std::string& choice,
                     const std::vector<LambdaPath>& candidates, const std::string& method,
                     std::pair<std::size_t, std::size_t> chosen, const Table& table,
                     const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                     const nlohmann::ordered_json& settings) {
  Page page("Selection of λ", choice);
  page.section("Error by λ").figure(error_by_lambda(candidates, method, chosen));
  page.section("All candidates").table(table);
  add_scores(page, scores, classes);
  page.settings(settings).write(path);
}

}  // namespace widelimit::app
