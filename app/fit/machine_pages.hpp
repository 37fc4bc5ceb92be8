#pragma once

#include "widelimit/report/figures/machine_figures.hpp"
#include "widelimit/report/scores.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace widelimit::app {

/// Scores as tables, notes and figures: the ROC curve of two classes, the confusion matrix of more, the reliability
/// curve of probabilities, margins.
void add_scores(Page& page, const std::vector<NamedScore>& scores, const std::vector<std::string>& classes);

/// The page of a fit: its summary and scores.
void write_fit_page(const std::filesystem::path& path, const std::string& title, const Summary& summary,
                    const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                    const nlohmann::ordered_json& settings);

/// The same of predictions.
void write_prediction_page(const std::filesystem::path& path, const std::string& title,
                           const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                           const nlohmann::ordered_json& settings);

/// Error by λ, a line for each kernel; `chosen` (kernel, point) is marked, `method` says how errors were found.
/// `scores` are those of the machine fitted with the choice, where there is one.
void write_tune_page(const std::filesystem::path& path, const std::string& choice,
                     const std::vector<LambdaPath>& candidates, const std::string& method,
                     std::pair<std::size_t, std::size_t> chosen, const Table& table,
                     const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                     const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
