#include "experiments/log_slope.hpp"

#include <cmath>
#include <vector>

namespace widelimit::experiment {

std::optional<LineFit> log_line(std::span<const double> x, std::span<const double> y) {
  std::vector<double> log_x;
  std::vector<double> log_y;
  for (const double value : x) log_x.push_back(std::log(value));
  for (const double value : y) log_y.push_back(std::log(value));
  return fit_line(log_x, log_y);
}

double log_slope(std::span<const double> x, std::span<const double> y) {
  const auto line = log_line(x, y);
  return line ? line->slope : 0.0;
}

void write_slope(nlohmann::ordered_json& json, const std::optional<LineFit>& fit) {
  if (!fit) return;
  json["slope"] = fit->slope;
  if (fit->interval) json["interval"] = {fit->interval->first, fit->interval->second};
}

}  // namespace widelimit::experiment
