#pragma once

#include "widelimit/network/network.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// One layer of a chain that acts on vectors: dense (or a scale, which trains nothing), or a rectifier.
struct ChainLayer {
  bool rectifier = false;
  double slope = 0;  ///< rectifier: of negative values, ≥ 0; relu 0, identity 1
  double w_std = 1;  ///< affine
  double b_std = 0;
  bool trained = true;  ///< affine: adds its Σ to the NTK
  std::string place;    ///< "layer 3 (dense(b_std=0.1))"
};

/// A network as a chain of dense layers and rectifiers on flattened inputs.
struct Chain {
  std::vector<ChainLayer> layers;
  Index features = 1;
};

/// Error{usage} names the layer that is neither, and what can be done.
[[nodiscard]] Chain read_chain(const Network& network, const Shape& shape);

}  // namespace widelimit
