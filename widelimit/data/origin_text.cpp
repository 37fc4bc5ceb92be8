#include "widelimit/data/origin_text.hpp"

#include "widelimit/base/error.hpp"

#include <nlohmann/json.hpp>

namespace widelimit {

std::string origin_text(const DataOrigin& origin) {
  return origin_json(origin).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

DataOrigin parse_origin_text(const std::string& text) {
  using Json = nlohmann::ordered_json;
  // Deeper levels, which no text of ours has, are left out before anything recurses into them.
  constexpr int deepest = 5;
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth <= deepest; };
  const Json json = Json::parse(text, shallow, false);
  if (!json.is_object()) fail(Code::input, "what it says of its data is damaged");
  return parse_origin(json);
}

}  // namespace widelimit
