#include "app/fit/machine_pages.hpp"

#include "widelimit/report/fit_summary.hpp"
#include "widelimit/report/html.hpp"

#include <fmt/format.h>

namespace widelimit::app {

namespace {

std::string margin_words(std::size_t classes) {
  if (classes == 2)
    return "The margin of a sample is y·g, y = ±1 its class and g its score: positive where the sample is classified "
           "correctly.";
  return "The margin of a sample is the score of its class less the best of the others; of machines that decide by "
         "pairs "
         "the least score of its class against another. Positive where the sample is classified correctly.";
}

void add_scores(Page& page, const std::vector<NamedScore>& scores, const std::vector<std::string>& classes) {
  std::vector<Illustration> maps;
  std::vector<std::pair<std::string, Roc>> curves;
  std::vector<std::pair<std::string, std::vector<double>>> distances;
  for (const auto& [name, score] : scores) {
    page.paragraph(fmt::format("{}: {}", name, score_text(score)));
    if (score.roc) curves.emplace_back(name, *score.roc);
    if (!score.margins.empty()) distances.emplace_back(name, score.margins);
    if (classes.size() > 2) maps.push_back(confusion_map(score.confusion, classes, "Who is taken for whom, " + name));
  }
  if (!maps.empty()) page.section("Confusion matrices").figures(maps);
  if (distances.empty()) return;
  page.section(curves.empty() ? "Margins" : "ROC and margins");
  std::vector<Illustration> pictures;
  if (!curves.empty()) pictures.push_back(roc_curves(curves, classes[1]));
  pictures.push_back(margin_histogram(distances));
  page.figures(pictures);
  page.paragraph(margin_words(classes.size()));
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
  Page page(title, "Predictions of a fitted model.");
  add_scores(page, scores, classes);
  page.settings(settings).write(path);
}

void write_tune_page(const std::filesystem::path& path, const std::string& choice,
                     const std::vector<LambdaPath>& candidates, const std::string& method,
                     std::pair<std::size_t, std::size_t> chosen, const Table& table,
                     const nlohmann::ordered_json& settings) {
  Page page("Choice of λ", choice);
  page.section("Error by λ").figure(error_by_lambda(candidates, method, chosen));
  page.section("All of them").table(table).settings(settings).write(path);
}

}  // namespace widelimit::app
