#pragma once

#include "widelimit/network/network.hpp"

#include <optional>

namespace widelimit {

/// Standard deviations of the weights and biases of a dense or convolutional layer, before the division by √fan_in.
struct WeightStd {
  double w_std = 1;
  double b_std = 0;
  bool operator==(const WeightStd&) const = default;
};

/// The network with these in all its weight layers, those inside residuals included. Error{input} unless both are
/// finite and not negative.
[[nodiscard]] Network with_std(Network network, const WeightStd& std);
/// The same, with those of the layers multiplied by these.
[[nodiscard]] Network with_scaled_std(Network network, const WeightStd& factor);

/// Those of the first weight layer; nothing where there is none.
[[nodiscard]] std::optional<WeightStd> first_std(const Network& network);
/// Whether a layer has biases that are not 0.
[[nodiscard]] bool has_biases(const Network& network);
/// Number of dense and convolutional layers, those inside residuals included.
[[nodiscard]] Index count_weight_layers(const Network& network);

}  // namespace widelimit
