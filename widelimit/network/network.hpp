#pragma once

#include "widelimit/network/layer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace widelimit {

/// An architecture without widths, used by both the infinite-width kernels and the finite-width trainer. A value type:
/// compared, copied, hashed, printed, parsed.
struct Network {
  Layers layers;

  /// Parses the text form, a preset, a JSON list, or the name of a file that holds any of these (`*.json`, `*.txt`).
  /// Throws Error{input} naming the layer, its position in the text and what was expected.
  [[nodiscard]] static Network parse(std::string_view text);
  [[nodiscard]] static Network from_json(const nlohmann::json& list);

  /// Canonical text: parse(to_text()) == *this; arguments at their defaults are omitted.
  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] nlohmann::json to_json() const;

  bool operator==(const Network&) const;
};

/// Equal networks have equal hashes in every process, so that the hash can identify the network of a stored kernel.
[[nodiscard]] std::size_t hash_value(const Network& network);

/// One layer as written in the text of a network.
[[nodiscard]] std::string to_text(const Layer& layer);

/// Number of layers, including residuals and the layers inside them.
[[nodiscard]] Index count_layers(const Layers& layers);

/// Whether a layer, also inside residuals, has trained weights: a dense, conv or attention layer that is not frozen. If
/// there is none, the NTK is 0.
[[nodiscard]] bool has_trained_layer(const Layers& layers);

/// Returns the first `hidden` hidden layers of a network of dense layers, with the next dense layer as output; 0 gives
/// the linear network. Its first `frozen` dense layers are frozen, in addition to those already frozen. sweep()
/// computes its NTK at (hidden, frozen). Throws Error{usage} if there are fewer layers.
[[nodiscard]] Network cut_network(const Network& network, Index hidden, Index frozen = 0);

/// Checks the invariants that the parsers guarantee, for a network built from structs: not empty, every argument in its
/// range, number of layers and nesting within the limits. Throws Error{input} naming the layer and its position.
void validate(const Network& network);

}  // namespace widelimit

template <>
struct std::hash<widelimit::Network> {
  std::size_t operator()(const widelimit::Network& network) const { return widelimit::hash_value(network); }
};
