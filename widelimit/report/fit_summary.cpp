#include "widelimit/report/fit_summary.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace widelimit {

nlohmann::ordered_json summary_json(const Summary& summary) {
  nlohmann::ordered_json json{{"ending", text(summary.ending)}, {"method", summary.method}};
  if (!summary.message.empty()) json["message"] = summary.message;
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  };
  add("primal", summary.primal);
  add("dual", summary.dual);
  add("gap", summary.gap);
  add("gradient", summary.gradient);
  add("condition", summary.condition);
  json["iterations"] = summary.iterations;
  json["seconds"] = summary.seconds;
  json["memory"] = summary.memory;
  return json;
}

Table summary_table(const Summary& summary) {
  Table table{.columns = {"fit", ""}};
  const auto add = [&](const char* name, std::string value) {
    table.rows.push_back({std::string(name), std::move(value)});
  };
  const auto number = [&](const char* name, const std::optional<double>& value, int digits) {
    if (value) add(name, fmt::format("{:.{}g}", *value, digits));
  };
  add("ending", text(summary.ending));
  add("method", summary.method);
  number("objective", summary.primal, 8);
  number("duality gap", summary.gap, 2);
  number("gradient", summary.gradient, 2);
  number("condition", summary.condition, 2);
  if (summary.iterations > 0) add("iterations", std::to_string(summary.iterations));
  add("seconds", fmt::format("{:.3g}", summary.seconds));
  return table;
}

}  // namespace widelimit
