#include "widelimit/network/network.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/network/forms.hpp"
#include "widelimit/network/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace widelimit {

namespace {

constexpr std::size_t max_text = std::size_t{16} << 20;

/// A residual adds three JSON levels (list, layer, arguments). Deeper input is rejected during parsing, before it uses
/// memory.
nlohmann::json parse_json(std::string_view text) {
  constexpr int deepest = 3 * static_cast<int>(max_nesting + 2);
  const auto limit_depth = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > deepest) fail(Code::input, "network JSON: layers are nested deeper than {}", max_nesting);
    return true;
  };
  try {
    return nlohmann::json::parse(text, limit_depth);
  } catch (const nlohmann::json::parse_error& error) {
    fail(Code::input, "network JSON is damaged at character {}; expected a list such as [[\"dense\"], [\"relu\"]]",
         error.byte);
  } catch (const nlohmann::json::exception& error) {  // e.g. a number out of range
    fail(Code::input, "network JSON cannot be read: {}", error.what());
  }
}

Network read(std::string_view text) {
  if (text.size() > max_text) fail(Code::input, "the network's text is longer than {} MiB", max_text >> 20);
  const std::string_view body = without_blanks(text);
  if (body.substr(0, 1) == "[") return Network::from_json(parse_json(body));
  return {read_text(text)};
}

Network read_file(const std::string& path) {
  std::error_code problem;
  const auto status = std::filesystem::status(path, problem);
  if (!std::filesystem::exists(status)) fail(Code::input, "network file '{}' does not exist", path);
  if (!std::filesystem::is_regular_file(status)) fail(Code::input, "network file '{}' is not a regular file", path);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(Code::input, "network file '{}' cannot be opened: {}", path, std::strerror(errno));
  std::string text(max_text + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) fail(Code::input, "network file '{}' cannot be read", path);
  text.resize(static_cast<std::size_t>(stream.gcount()));
  try {
    return read(text);
  } catch (const Error& error) {
    fail(error.code(), "network file '{}': {}", path, error.what());
  }
}

void validate_layers(const Layers& layers, const std::string& prefix, Index nesting) {
  if (nesting > max_nesting) fail(Code::input, "network: layers are nested deeper than {}", max_nesting);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Form& form = form_of(layers[i]);
    const std::string place = fmt::format("{}{}", prefix, i + 1);
    Layer rebuilt = form.prototype;
    for (const Argument& argument : form.arguments) {
      Value value = argument.get(layers[i]);
      const bool is_default = argument.absent == Absent::prototype && value == argument.get(form.prototype);
      if (!is_default && !accepts(argument.parameter, value)) {
        fail(Code::input, "network, layer {}: {} of '{}' is out of range; it takes {}", place, argument.parameter.name,
             form.name, accepted(argument.parameter));
      }
      if (const auto* inner = std::get_if<Layers>(&value)) {
        validate_layers(*inner, fmt::format("{}.{}.", place, argument.parameter.name), nesting + 1);
      }
      if (!is_default) argument.set(rebuilt, std::move(value));
    }
    if (!(rebuilt == layers[i])) {
      fail(Code::input, "network, layer {}: '{}' takes {}; other fields must keep their defaults", place, form.name,
           form.argument_names());
    }
  }
}

struct Trained {
  bool operator()(const Dense& dense) const { return !dense.frozen; }
  bool operator()(const Conv& conv) const { return !conv.frozen; }
  bool operator()(const Attention& attention) const { return !attention.frozen; }
  bool operator()(const Residual& residual) const {
    return has_trained_layer(residual.branch) || (residual.shortcut && has_trained_layer(*residual.shortcut));
  }
  template <typename Weightless>
  bool operator()(const Weightless&) const {
    return false;
  }
};

}  // namespace

bool Network::operator==(const Network&) const = default;

Network Network::parse(std::string_view text) {
  const std::string_view body = without_blanks(text);
  for (const std::string_view extension : {".json", ".txt"}) {
    if (body.size() > extension.size() && body.substr(body.size() - extension.size()) == extension) {
      return read_file(std::string(body));
    }
  }
  return read(text);
}

std::string Network::to_text() const { return write_text(layers); }

std::size_t hash_value(const Network& network) {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char c : network.to_text()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return static_cast<std::size_t>(hash);
}

Index count_layers(const Layers& layers) {
  auto count = static_cast<Index>(layers.size());
  for (const Layer& layer : layers) {
    const auto* residual = std::get_if<Residual>(&layer.value);
    if (residual == nullptr) continue;
    count += count_layers(residual->branch) + (residual->shortcut ? count_layers(*residual->shortcut) : 0);
  }
  return count;
}

bool has_trained_layer(const Layers& layers) {
  return std::any_of(layers.begin(), layers.end(),
                     [](const Layer& layer) { return std::visit(Trained{}, layer.value); });
}

Network cut_network(const Network& network, Index hidden, Index frozen) {
  if (frozen > hidden + 1) {
    fail(Code::usage, "a network of {} hidden layers has {} dense layers and cannot freeze {}", hidden, hidden + 1,
         frozen);
  }
  Network result;
  Index dense_layers = 0;
  for (const Layer& layer : network.layers) {
    result.layers.push_back(layer);
    auto* dense = std::get_if<Dense>(&result.layers.back().value);
    if (dense == nullptr) continue;
    dense->frozen = dense->frozen || dense_layers < frozen;
    if (++dense_layers == hidden + 1) return result;
  }
  fail(Code::usage, "'{}' cannot be cut after {} hidden layers: it has {} dense layers", network.to_text(), hidden,
       dense_layers);
}

void validate(const Network& network) {
  if (network.layers.empty()) fail(Code::input, "the network is empty; expected layers such as 'dense relu dense'");
  validate_layers(network.layers, "", 0);
  if (count_layers(network.layers) > max_layers) fail(Code::input, "the network has more than {} layers", max_layers);
}

}  // namespace widelimit
