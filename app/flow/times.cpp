#include "app/flow/times.hpp"

#include <fmt/format.h>

#include <cmath>

namespace widelimit::app {

std::string time_text(double time) { return std::isinf(time) ? "inf" : fmt::format("{:.6g}", time); }

nlohmann::ordered_json times_json(const std::vector<double>& times) {
  auto json = nlohmann::ordered_json::array();
  for (const double time : times) {
    json.push_back(std::isinf(time) ? nlohmann::ordered_json("inf") : nlohmann::ordered_json(time));
  }
  return json;
}

}  // namespace widelimit::app
