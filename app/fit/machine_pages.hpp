#pragma once

#include "widelimit/report/figures/machine_figures.hpp"
#include "widelimit/report/scores.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace widelimit::app {

/// Adds scores as tables, notes and figures: ROC curve (two classes), confusion matrix (more classes), reliability
/// curve (probabilities), margins.
void add_scores(Page& page, const std::vector<NamedScore>& scores, const std::vector<std::string>& classes);

/// Writes the page of a fit: summary and scores.
void write_fit_page(const std::filesystem::path& path, const std::string& title, const Summary& summary,
                    const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                    const nlohmann::ordered_json& settings);

/// Writes the page of predictions: scores.
void write_prediction_page(const std::filesystem::path& path, const std::string& title,
                           const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                           const nlohmann::ordered_json& settings);

/// Writes the page of `tune`: the error by λ, one line per kernel, with the point `chosen` (kernel, point) marked.
/// `method` is the validation method; `scores` are those of the refitted machine, empty if there is none.
void write_tune_page(const std::filesystem::path& path, const std::string& choice,
                     const std::vector<LambdaPath>& candidates, const std::string& method,
                     std::pair<std::size_t, std::size_t> chosen, const Table& table,
                     const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                     const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
