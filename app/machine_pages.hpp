#pragma once

#include "app/scores.hpp"

#include "widelimit/machine/tune.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace widelimit::app {

/// A part of the data by its name, and how well the machine tells it.
using NamedScore = std::pair<std::string, Score>;

/// The page of a fit: how it ended, its scores, and of classes who is taken for whom.
void write_fit_page(const std::filesystem::path& path, const std::string& title, const Summary& summary,
                    const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                    const nlohmann::ordered_json& settings);

/// The same of predictions.
void write_prediction_page(const std::filesystem::path& path, const std::string& title,
                           const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
                           const nlohmann::ordered_json& settings);

/// One kernel to try, and what came of it.
struct Candidate {
  std::string name;
  std::vector<TunePoint> points;
};

/// Error by λ, a line for each kernel.
void write_tune_page(const std::filesystem::path& path, const std::string& choice,
                     const std::vector<Candidate>& candidates, const Table& table,
                     const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
