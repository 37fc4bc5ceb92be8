#pragma once

#include "widelimit/network/layer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace widelimit {

/// A network without widths: the value that both the infinite-width kernel and the finite-width trainer read.
/// Compared, copied, hashed, printed, parsed.
struct Network {
  Layers layers;

  /// Reads the text form, a preset, a JSON list, or the name of a file that holds any of these (`*.json`, `*.txt`).
  /// Error{input} names the layer, its position in the text and what was expected.
  [[nodiscard]] static Network parse(std::string_view text);
  [[nodiscard]] static Network from_json(const nlohmann::json& list);

  /// Canonical text: parse(to_text()) == *this, arguments at their defaults left out.
  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] nlohmann::json to_json() const;

  bool operator==(const Network&) const;
};

/// Equal networks hash equally, in every process: a kernel on disk can name its network by this.
[[nodiscard]] std::size_t hash_value(const Network& network);

/// One layer as it stands in the network's text.
[[nodiscard]] std::string to_text(const Layer& layer);

/// Layers of a network with those inside residuals, the residuals themselves included.
[[nodiscard]] Index count_layers(const Layers& layers);

/// Whether a layer among these, those inside residuals included, has weights that are trained: a dense, conv or
/// attention layer that is not frozen. Without any the NTK is 0.
[[nodiscard]] bool has_trained_layer(const Layers& layers);

/// What the readers of text and JSON promise, for a network built from structs: not empty, every argument in its
/// range, not too many layers, not nested too deep. Error{input} names the layer and its place.
void validate(const Network& network);

}  // namespace widelimit

template <>
struct std::hash<widelimit::Network> {
  std::size_t operator()(const widelimit::Network& network) const { return widelimit::hash_value(network); }
};
