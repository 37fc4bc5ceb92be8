#pragma once

#include "widelimit/certificate/chain/chain.hpp"
#include "widelimit/engine/enclosure/chain_entry.hpp"
#include "widelimit/kernel/gram.hpp"

#include <span>
#include <vector>

namespace widelimit {

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
