#include "widelimit/data/origin_text.hpp"

#include "widelimit/base/error.hpp"

#include <nlohmann/json.hpp>

namespace widelimit {

std::string origin_text(const DataOrigin& origin) {
  return origin_json(origin).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

DataOrigin parse_origin_text(const std::string& text) {
  using Json = nlohmann::ordered_json;
  // Levels deeper than any valid record are dropped during parsing, so that no recursion overflows the stack.
  constexpr int deepest = 5;
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth <= deepest; };
  const Json json = Json::parse(text, shallow, false);
  if (!json.is_object()) fail(Code::input, "its record of the training data is damaged");
  return parse_origin(json);
}

}  // namespace widelimit
