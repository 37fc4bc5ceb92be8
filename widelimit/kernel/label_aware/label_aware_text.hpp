#pragma once

#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <nlohmann/json.hpp>

namespace widelimit {

/// Serialised form of a LabelAware: JSON, and the principal directions with their centre as the last row, an empty
/// matrix if there are none.
struct LabelAwareText {
  nlohmann::ordered_json json;
  Matrix<double> directions;
};
[[nodiscard]] LabelAwareText label_aware_text(const LabelAware& aware);
/// Throws Error{input} if the data are invalid or damaged.
[[nodiscard]] LabelAware parse_label_aware(const nlohmann::ordered_json& json, const Matrix<double>& directions);

}  // namespace widelimit
