#pragma once

#include "widelimit/data/dataset.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace widelimit::app {

/// Adds the root mean squared error of each output, by the name of its label, to `json` and returns it as a line of
/// text. Returns an empty string unless the samples have several numeric labels.
std::string add_output_errors(const Matrix<double>& decisions, const Dataset& data, nlohmann::ordered_json& json);

}  // namespace widelimit::app
