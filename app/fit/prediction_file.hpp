#pragma once

#include "app/fit/predictor.hpp"

#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace widelimit::app {

/// A row for each sample: its number, what the model says, the scores behind it and the probabilities, each where no
/// more than `most` columns are theirs. Scores are named by their class, or by the pair of classes that they decide
/// between, the first where positive.
[[nodiscard]] Table prediction_table(const Predictor& model, const Said& said, Index most);

/// Error before the work: Error{usage} for an ending that is none of .csv, .tsv, .json and .npz, Error{resource} where
/// nothing can be written there.
void check_prediction_path(const std::filesystem::path& path);

/// The predictions in the format that the ending names; NPZ has them as arrays, with `settings` and the names of
/// classes and scores. Complete or absent.
void write_predictions(const std::filesystem::path& path, const Predictor& model, const Said& said,
                       const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
