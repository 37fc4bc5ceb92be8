#pragma once

#include "widelimit/analysis/scores.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// Part of the data by name, and the score of a machine on it.
using NamedScore = std::pair<std::string, Score>;

/// Formats a score: "accuracy 0.9861 (1229 of 1247), AUC 0.9987", or "mean squared error 0.12, R² 0.93, RMSE 0.35, MAE
/// 0.27".
[[nodiscard]] std::string score_text(const Score& score);

/// Returns all scores by name, those of classes by class name; undefined scores are omitted and explained in "notes".
[[nodiscard]] nlohmann::ordered_json score_json(const Score& score, const std::vector<std::string>& classes);

/// Returns one row per part and one column per score that any part has.
[[nodiscard]] Table scores_table(const std::vector<NamedScore>& parts);

/// Returns one row per class: samples, predictions, precision, recall and F1.
[[nodiscard]] Table class_table(const ClassScores& scores, const std::vector<std::string>& classes);

}  // namespace widelimit
