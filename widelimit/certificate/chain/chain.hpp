#pragma once

#include "widelimit/engine/enclosure/chain_entry.hpp"
#include "widelimit/kernel/gram.hpp"
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

/// A chain in the representation that enclosures and devices use.
class ChainSteps {
 public:
  ChainSteps(const Chain& chain, Kind kind);

  /// Returns a view that borrows this object.
  [[nodiscard]] ChainView view() const;
  /// Returns whether a layer after the first has a bias. The first bias is represented as a coordinate.
  [[nodiscard]] bool biased_later() const;
  [[nodiscard]] bool biased() const;

 private:
  std::vector<ChainStep> steps_;
  double features_;
  bool tangent_, lifts_;
};

/// Returns an enclosure of b√d/w of the first layer; 0 without bias.
[[nodiscard]] Interval lifted_coordinate(const Chain& chain);

}  // namespace widelimit
