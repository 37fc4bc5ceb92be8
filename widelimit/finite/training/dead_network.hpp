#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"

#include <string>

namespace widelimit {

/// Returns a description of the first hidden layer with the same values for all samples although the samples differ:
/// "all units of layer 2 (relu) are 0 for every sample". The rest of the network is then constant, and if the layer's
/// slopes are 0, as for inactive ReLUs, no gradient passes it: the network is dead. Empty if there is no such layer;
/// uses at most 512 samples.  One forward pass. [docs/theory/finite.md]
template <std::floating_point T>
[[nodiscard]] std::string dead_layer(const Architecture& architecture, const Parameters<T>& parameters,
                                     const Tensor<T>& x, const Engine& engine);

}  // namespace widelimit
