#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"

#include <string>

namespace widelimit {

/// The first layer before the last that gives the same values for all samples, though the samples differ: "all units of
/// layer 2 (relu) are 0 for every sample". What follows is a constant, and where the layer's slopes are 0 too, as those
/// of closed ReLUs, no gradient leads out of it: the network is dead. Empty where there is no such layer; at most 512
/// samples are tried.  One forward pass.                                                  [docs/theory/finite.md]
template <std::floating_point T>
[[nodiscard]] std::string dead_layer(const Architecture& architecture, const Parameters<T>& parameters,
                                     const Tensor<T>& x, const Engine& engine);

}  // namespace widelimit
