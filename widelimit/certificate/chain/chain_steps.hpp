#pragma once

#include "widelimit/certificate/chain/chain.hpp"
#include "widelimit/engine/enclosure/chain_entry.hpp"
#include "widelimit/kernel/gram.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// A chain as enclosures and devices see it.
class ChainSteps {
 public:
  ChainSteps(const Chain& chain, Kind kind);

  /// Borrows this.
  [[nodiscard]] ChainView view() const;
  /// The last bias is not part of entries that are enclosed; the first is a coordinate.
  [[nodiscard]] bool biased_later() const;
  [[nodiscard]] bool biased() const;

 private:
  std::vector<ChainStep> steps_;
  double features_;
  bool tangent_, lifts_;
};

/// b√d/w of the first layer; 0 where it has no bias.
[[nodiscard]] Interval lifted_coordinate(const Chain& chain);

}  // namespace widelimit
