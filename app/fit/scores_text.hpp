#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/report/scores.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace widelimit::app {

/// Formats scores for the terminal. For classes: all scores with a row per part, then a row per class of the last part,
/// unless there are too many; for numbers one line per part. The last lines list undefined scores with the reason.
[[nodiscard]] std::string scores_text(const std::vector<NamedScore>& parts, const std::vector<std::string>& classes);

/// Returns the sentence that relates the accuracy on held-out samples to chance: its 95 % interval (Wilson), and the
/// accuracy of predicting the largest class always. Empty for numbers and for all parts but "test": the machine has
/// seen their samples.
[[nodiscard]] std::string chance_text(const NamedScore& part, const std::vector<std::string>& classes);

/// Returns score_json with the numbers of chance_text: `accuracy_interval`, `largest_class`.
[[nodiscard]] nlohmann::ordered_json part_json(const NamedScore& part, const std::vector<std::string>& classes);

/// Adds the root mean squared error of each output, by the name of its label, to `json` and returns it as a line of
/// text. Returns an empty string unless the samples have several numeric labels.
std::string add_output_errors(const Matrix<double>& decisions, const Dataset& data, nlohmann::ordered_json& json);

}  // namespace widelimit::app
