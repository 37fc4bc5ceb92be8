#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/network/forms.hpp"
#include "widelimit/network/network.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace widelimit {

namespace {

using Json = nlohmann::json;

/// Truncates values in messages, since an invalid value can be a whole network.
std::string shown(const Json& json) {
  constexpr std::size_t longest = 40;
  if (json.is_structured() && json.size() > 8) return json.is_array() ? "a long list" : "a large object";
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "…";
  return text;
}

std::optional<Index> read_index(const Json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    return std::nullopt;
  }
  return json.get<Index>();
}

std::optional<Extent> read_extent(const Json& json) {
  if (const auto square = read_index(json)) return Extent{*square, *square};
  if (!json.is_array() || json.size() != 2) return std::nullopt;
  const auto rows = read_index(json[0]);
  const auto cols = read_index(json[1]);
  if (!rows || !cols) return std::nullopt;
  return Extent{*rows, *cols};
}

bool is_list(const Json& json) {
  return json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& x) { return x.is_number(); });
}

/// Returns std::nullopt if the JSON is not of the parameter's type; the caller handles layers.
std::optional<Value> read_value(const Parameter& parameter, const Json& json) {
  if (parameter.is<double>() && json.is_number()) return Value(json.get<double>());
  if (parameter.is<bool>() && json.is_boolean()) return Value(json.get<bool>());
  if (parameter.is<std::string>() && json.is_string()) return Value(json.get<std::string>());
  if (parameter.is<std::vector<double>>() && is_list(json)) return Value(json.get<std::vector<double>>());
  Padding padding{};
  if (parameter.is<Padding>() && json.is_string() && read_padding(json.get_ref<const std::string&>(), padding)) {
    return Value(padding);
  }
  if (const auto count = read_index(json); count && parameter.is<Index>()) return Value(*count);
  if (const auto extent = read_extent(json); extent && parameter.is<Extent>()) return Value(*extent);
  return std::nullopt;
}

class JsonReader {
 public:
  Layers series(const Json& list, const std::string& prefix, Index nesting) {
    if (!list.is_array()) {
      fail(Code::input, "network JSON{}: expected a list of layers such as [[\"dense\"], [\"relu\"]], found {}",
           prefix.empty() ? "" : ", " + prefix, shown(list));
    }
    if (nesting > max_nesting) fail(Code::input, "network JSON: layers are nested deeper than {}", max_nesting);
    Layers layers;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (++count_ > max_layers) fail(Code::input, "network JSON: the network has more than {} layers", max_layers);
      layers.push_back(layer(list[i], fmt::format("{}{}", prefix, i + 1), nesting));
    }
    return layers;
  }

 private:
  Layer layer(const Json& json, const std::string& place, Index nesting) {
    if (!json.is_array() || json.empty() || json.size() > 2 || !json[0].is_string() ||
        (json.size() == 2 && !json[1].is_object())) {
      fail(Code::input, "network JSON, layer {}: expected [\"name\"] or [\"name\", {{arguments}}], found {}", place,
           shown(json));
    }
    const auto& name = json[0].get_ref<const std::string&>();
    const Form* form = find_form(name);
    if (form == nullptr) {
      const std::string nearest = suggestion(name, layer_names());
      fail(Code::input, "network JSON, layer {}: unknown layer {}{}", place, shown(json[0]),
           nearest.empty() ? fmt::format("; layers are {}", fmt::join(layer_names(), ", ")) : nearest);
    }
    Layer result = form->prototype;
    std::vector<bool> written(form->arguments.size());
    if (json.size() == 2) {
      for (const auto& item : json[1].items()) {
        const Argument& argument = find(*form, item.key(), place);
        written[static_cast<std::size_t>(&argument - form->arguments.data())] = true;
        argument.set(result, value(*form, argument.parameter, item.value(), place, nesting));
      }
    }
    if (const Argument* missing = form->complete(result, written)) {
      fail(Code::input, "network JSON, layer {}: '{}' needs \"{}\", {}", place, form->name, missing->parameter.name,
           accepted(missing->parameter));
    }
    return result;
  }

  static const Argument& find(const Form& form, const std::string& name, const std::string& place) {
    if (const Argument* argument = form.find(name)) return *argument;
    std::vector<std::string_view> names;
    for (const Argument& argument : form.arguments) names.push_back(argument.parameter.name);
    fail(Code::input, "network JSON, layer {}: '{}' has no argument {}; it takes {}{}", place, form.name, shown(name),
         form.argument_names(), suggestion(name, names));
  }

  Value value(const Form& form, const Parameter& parameter, const Json& json, const std::string& place, Index nesting) {
    std::optional<Value> read;
    if (parameter.is<Layers>() && json.is_array()) {
      read = series(json, fmt::format("{}.{}.", place, parameter.name), nesting + 1);
    } else {
      read = read_value(parameter, json);
    }
    if (!read || !accepts(parameter, *read)) {
      fail(Code::input, "network JSON, layer {}: {} of '{}' is {}; it takes {}", place, parameter.name, form.name,
           shown(json), accepted(parameter));
    }
    return *std::move(read);
  }

  Index count_ = 0;
};

Json write_layers(const Layers& layers);

struct JsonValue {
  Json operator()(double number) const { return number == 0 ? 0.0 : number; }
  Json operator()(Index count) const { return count; }
  Json operator()(const Extent& extent) const { return Json::array({extent.rows, extent.cols}); }
  Json operator()(Padding padding) const { return to_string(padding); }
  Json operator()(const std::vector<double>& list) const { return list; }
  Json operator()(const std::string& word) const { return word; }
  Json operator()(const Layers& layers) const { return write_layers(layers); }
  Json operator()(bool truth) const { return truth; }
};

Json write_layers(const Layers& layers) {
  Json list = Json::array();
  for (const Layer& layer : layers) {
    const Form& form = form_of(layer);
    Json arguments = Json::object();
    for (const Argument& argument : form.arguments) {
      if (!form.must_write(argument, layer)) continue;
      arguments[std::string(argument.parameter.name)] = std::visit(JsonValue{}, argument.get(layer));
    }
    Json written = Json::array({form.name});
    if (!arguments.empty()) written.push_back(std::move(arguments));
    list.push_back(std::move(written));
  }
  return list;
}

}  // namespace

Network Network::from_json(const nlohmann::json& list) {
  Network network{JsonReader().series(list, "", 0)};
  if (network.layers.empty()) fail(Code::input, "network JSON: the network is empty; expected at least one layer");
  return network;
}

nlohmann::json Network::to_json() const { return write_layers(layers); }

}  // namespace widelimit
