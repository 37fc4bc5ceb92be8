#pragma once

#include "widelimit/analysis/scores.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// A part of the data by its name, and the score of a machine on it.
using NamedScore = std::pair<std::string, Score>;

/// "accuracy 0.9861 (1229 of 1247), AUC 0.9987", or "mean squared error 0.12, R² 0.93, RMSE 0.35, MAE 0.27".
[[nodiscard]] std::string score_text(const Score& score);

/// All scores by name, those of each class by the names of the classes; what is undefined is left out, and "notes" says
/// why.
[[nodiscard]] nlohmann::ordered_json score_json(const Score& score, const std::vector<std::string>& classes);

/// A row for each part, a column for each score that one of them has.
[[nodiscard]] Table scores_table(const std::vector<NamedScore>& parts);

/// A row for each class: samples, predictions, precision, recall and F1.
[[nodiscard]] Table class_table(const ClassScores& scores, const std::vector<std::string>& classes);

}  // namespace widelimit
