#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace widelimit::app {

/// Six significant digits, or "inf".
[[nodiscard]] std::string time_text(double time);

/// An array of numbers; an infinite time is the string "inf", as JSON has no infinity.
[[nodiscard]] nlohmann::ordered_json times_json(const std::vector<double>& times);

}  // namespace widelimit::app
