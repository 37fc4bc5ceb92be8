#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace widelimit::app {

/// Formats a time with six significant digits, or as "inf".
[[nodiscard]] std::string time_text(double time);

/// Returns an array of numbers; an infinite time is the string "inf", as JSON cannot represent infinity.
[[nodiscard]] nlohmann::ordered_json times_json(const std::vector<double>& times);

}  // namespace widelimit::app
