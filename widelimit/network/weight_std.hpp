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

/// Returns the network with these values in all dense and convolutional layers, including those inside residuals.
/// Throws Error{input} unless both are finite and non-negative.
[[nodiscard]] Network with_std(Network network, const WeightStd& std);
/// The same, with the values of the layers multiplied by these factors.
[[nodiscard]] Network with_scaled_std(Network network, const WeightStd& factor);

/// Values of the first dense or convolutional layer; std::nullopt if there is none.
[[nodiscard]] std::optional<WeightStd> first_std(const Network& network);
/// Whether a layer has non-zero biases.
[[nodiscard]] bool has_biases(const Network& network);
/// Number of dense and convolutional layers, including those inside residuals.
[[nodiscard]] Index count_weight_layers(const Network& network);

}  // namespace widelimit
