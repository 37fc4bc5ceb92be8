#pragma once

#include "widelimit/data/dataset.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace widelimit::app {

/// Root mean squared error of each of several numbers that a machine predicts: under the name of its label in `json`,
/// and as a line of text. Nothing where the samples do not have several labels.
std::string tell_output_errors(const Matrix<double>& decisions, const Dataset& data, nlohmann::ordered_json& json);

}  // namespace widelimit::app
