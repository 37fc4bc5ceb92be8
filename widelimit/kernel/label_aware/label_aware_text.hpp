#pragma once

#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <nlohmann/json.hpp>

namespace widelimit {

/// A fitted label-aware part as files hold it: JSON, and principal directions with their centre as the last row, which
/// have no rows where there are none.
struct LabelAwareText {
  nlohmann::ordered_json json;
  Matrix<double> directions;
};
[[nodiscard]] LabelAwareText label_aware_text(const LabelAware& aware);
/// Error{input} where it is not one, or damaged.
[[nodiscard]] LabelAware parse_label_aware(const nlohmann::ordered_json& json, const Matrix<double>& directions);

}  // namespace widelimit
