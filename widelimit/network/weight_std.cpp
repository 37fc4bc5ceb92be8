#include "widelimit/network/weight_std.hpp"

#include "widelimit/base/error.hpp"

#include <cmath>
#include <type_traits>
#include <variant>

namespace widelimit {

namespace {

/// Calls visit(layer) for every dense and convolutional layer, in order.
template <typename LayerList, typename Visit>
void each_weight_layer(LayerList& layers, const Visit& visit) {
  for (auto& layer : layers) {
    std::visit(
        [&](auto& one) {
          using Type = std::remove_cvref_t<decltype(one)>;
          if constexpr (std::is_same_v<Type, Dense> || std::is_same_v<Type, Conv>) {
            visit(one);
          } else if constexpr (std::is_same_v<Type, Residual>) {
            each_weight_layer(one.branch, visit);
            if (one.shortcut) each_weight_layer(*one.shortcut, visit);
          }
        },
        layer.value);
  }
}

void check_std(const WeightStd& std) {
  for (const double value : {std.w_std, std.b_std}) {
    if (!std::isfinite(value) || value < 0) {
      fail(Code::input, "standard deviation {}: w_std and b_std must be finite and non-negative", value);
    }
  }
}

}  // namespace

Network with_std(Network network, const WeightStd& std) {
  check_std(std);
  each_weight_layer(network.layers, [&](auto& layer) {
    layer.w_std = std.w_std;
    layer.b_std = std.b_std;
  });
  return network;
}

Network with_scaled_std(Network network, const WeightStd& factor) {
  check_std(factor);
  each_weight_layer(network.layers, [&](auto& layer) {
    layer.w_std *= factor.w_std;
    layer.b_std *= factor.b_std;
  });
  return network;
}

std::optional<WeightStd> first_std(const Network& network) {
  std::optional<WeightStd> first;
  each_weight_layer(network.layers, [&](const auto& layer) {
    if (!first) first = WeightStd{layer.w_std, layer.b_std};
  });
  return first;
}

bool has_biases(const Network& network) {
  bool found = false;
  each_weight_layer(network.layers, [&](const auto& layer) { found = found || layer.b_std > 0; });
  return found;
}

Index count_weight_layers(const Network& network) {
  Index count = 0;
  each_weight_layer(network.layers, [&](const auto&) { ++count; });
  return count;
}

}  // namespace widelimit
