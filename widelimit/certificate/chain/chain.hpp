#pragma once

#include "widelimit/network/network.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// A layer of a chain on vectors: affine (dense, or a scale without trained weights) or a rectifier.
struct ChainLayer {
  bool rectifier = false;
  double slope = 0;  ///< rectifier: slope for negative values, ≥ 0; relu 0, identity 1
  double w_std = 1;  ///< affine
  double b_std = 0;
  bool trained = true;  ///< affine: contributes its Σ to the NTK
  std::string place;    ///< "layer 3 (dense(b_std=0.1))"
};

/// A network as a chain of dense layers and rectifiers on flattened inputs.
struct Chain {
  std::vector<ChainLayer> layers;
  Index features = 1;
};

/// Returns the chain of a network. Throws Error{usage} for a layer of another kind; names it and the alternatives.
[[nodiscard]] Chain read_chain(const Network& network, const Shape& shape);

}  // namespace widelimit
