#include "widelimit/report/scores.hpp"

#include "widelimit/base/error.hpp"

#include <fmt/format.h>

#include <optional>

namespace widelimit {

namespace {

using Json = nlohmann::ordered_json;

void set_where_defined(Json& json, const char* name, const std::optional<double>& value) {
  if (value) json[name] = *value;
}

Json value_json(const ValueScores& scores) {
  Json json{{"samples", scores.samples},
            {"squared_error", scores.squared_error},
            {"root_squared_error", scores.root_squared_error()},
            {"absolute_error", scores.absolute_error}};
  set_where_defined(json, "r2", scores.r2);
  return json;
}

void add_probability_json(Json& json, const ProbabilityScores& scores) {
  set_where_defined(json, "log_loss", scores.log_loss);
  json["brier"] = scores.brier;
  json["calibration_error"] = scores.calibration_error;
  Json bins = Json::array();
  for (const ReliabilityBin& bin : scores.bins) {
    Json entry{{"samples", bin.samples}};
    if (bin.samples > 0) {
      entry["confidence"] = bin.confidence;
      entry["accuracy"] = bin.accuracy;
    }
    bins.push_back(std::move(entry));
  }
  json["reliability"] = std::move(bins);
}

Json class_json(const ClassScores& scores, const std::vector<std::string>& classes) {
  Json json{{"samples", scores.samples},
            {"accuracy", scores.accuracy()},
            {"correct", scores.correct},
            {"balanced_accuracy", scores.balanced_accuracy}};
  set_where_defined(json, "precision", scores.precision);
  set_where_defined(json, "recall", scores.recall);
  json["f1"] = scores.f1;
  set_where_defined(json, "auc", scores.auc);
  if (scores.probability) add_probability_json(json, *scores.probability);
  Json each = Json::array();
  for (std::size_t c = 0; c < scores.classes.size(); ++c) {
    const ClassScore& one = scores.classes[c];
    Json entry{{"class", classes.at(c)}, {"support", one.support}, {"predicted", one.predicted}};
    set_where_defined(entry, "precision", one.precision());
    set_where_defined(entry, "recall", one.recall());
    set_where_defined(entry, "f1", one.f1());
    each.push_back(std::move(entry));
  }
  json["classes"] = std::move(each);
  json["confusion"] = scores.confusion;
  return json;
}

/// Returns the names and values of a row of scores_table.
std::vector<std::pair<std::string, Cell>> score_cells(const Score& score) {
  const auto cell = [](const std::optional<double>& value) { return value ? Cell(*value) : Cell(); };
  if (const auto* values = std::get_if<ValueScores>(&score)) {
    return {{"samples", static_cast<std::int64_t>(values->samples)},
            {"R²", cell(values->r2)},
            {"RMSE", values->root_squared_error()},
            {"MAE", values->absolute_error},
            {"mean squared error", values->squared_error}};
  }
  const auto& scores = std::get<ClassScores>(score);
  std::vector<std::pair<std::string, Cell>> cells{{"samples", static_cast<std::int64_t>(scores.samples)},
                                                  {"accuracy", scores.accuracy()},
                                                  {"balanced", scores.balanced_accuracy},
                                                  {"precision", cell(scores.precision)},
                                                  {"recall", cell(scores.recall)},
                                                  {"F1", scores.f1},
                                                  {"AUC", cell(scores.auc)}};
  if (scores.probability) {
    cells.emplace_back("log loss", cell(scores.probability->log_loss));
    cells.emplace_back("Brier", scores.probability->brier);
    cells.emplace_back("calibration error", scores.probability->calibration_error);
  }
  return cells;
}

}  // namespace

std::string score_text(const Score& score) {
  if (const auto* values = std::get_if<ValueScores>(&score)) {
    const std::string r2 = values->r2 ? fmt::format(", R² {:.4g}", *values->r2) : "";
    return fmt::format("mean squared error {:.4g}{}, RMSE {:.4g}, MAE {:.4g}", values->squared_error, r2,
                       values->root_squared_error(), values->absolute_error);
  }
  const auto& scores = std::get<ClassScores>(score);
  const std::string area = scores.auc ? fmt::format(", AUC {:.6g}", *scores.auc) : "";
  return fmt::format("accuracy {:.4f} ({} of {})", scores.accuracy(), scores.correct, scores.samples) + area;
}

Json score_json(const Score& score, const std::vector<std::string>& classes) {
  const auto* values = std::get_if<ValueScores>(&score);
  Json json = values != nullptr ? value_json(*values) : class_json(std::get<ClassScores>(score), classes);
  const std::vector<std::string> notes = missing_scores(score, classes);
  if (!notes.empty()) json["notes"] = notes;
  return json;
}

Table scores_table(const std::vector<NamedScore>& parts) {
  Table table{.columns = {"part"}};
  std::vector<std::vector<std::pair<std::string, Cell>>> rows;
  for (const NamedScore& part : parts) {
    rows.push_back(score_cells(part.second));
    table.rows.push_back({part.first});
  }
  for (std::size_t c = 0; !rows.empty() && c < rows.front().size(); ++c) {
    bool empty = true;
    for (const auto& row : rows) {
      if (row.size() != rows.front().size())
        fail(Code::usage, "all parts of a table must have the same kind of scores");
      empty = empty && std::holds_alternative<std::monostate>(row[c].second);
    }
    if (empty) continue;
    table.columns.push_back(rows.front()[c].first);
    for (std::size_t r = 0; r < rows.size(); ++r) table.rows[r].push_back(rows[r][c].second);
  }
  return table;
}

Table class_table(const ClassScores& scores, const std::vector<std::string>& classes) {
  Table table{.columns = {"class", "samples", "predicted", "precision", "recall", "F1"}};
  const auto cell = [](const std::optional<double>& value) { return value ? Cell(*value) : Cell(); };
  for (std::size_t c = 0; c < scores.classes.size(); ++c) {
    const ClassScore& one = scores.classes[c];
    table.rows.push_back({classes.at(c), static_cast<std::int64_t>(one.support),
                          static_cast<std::int64_t>(one.predicted), cell(one.precision()), cell(one.recall()),
                          cell(one.f1())});
  }
  return table;
}

}  // namespace widelimit
