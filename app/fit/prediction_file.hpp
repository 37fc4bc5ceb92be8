#pragma once

#include "app/fit/predictor.hpp"

#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace widelimit::app {

/// Returns a row per sample: number, predicted class or values, scores and probabilities; scores and probabilities are
/// each left out if they have more than `most` columns. A score is named by its class, or by its pair of classes, where
/// a positive score means the first class.
[[nodiscard]] Table prediction_table(const Predictor& model, const Predictions& predictions, Index most);

/// Checks the path before the computation. Throws Error{usage} unless the extension is .csv, .tsv, .json or .npz,
/// Error{resource} if the file cannot be written.
void check_prediction_path(const std::filesystem::path& path);

/// Writes the predictions in the format of the extension; NPZ files hold arrays, `settings`, and the names of classes
/// and scores. The file is complete or absent.
void write_predictions(const std::filesystem::path& path, const Predictor& model, const Predictions& predictions,
                       const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
