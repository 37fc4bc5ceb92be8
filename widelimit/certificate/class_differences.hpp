#pragma once

#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/finite/parameters.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Enclosures of the margins of some balls, `each` of them to a ball: f_c − f_k for every class k but the point's own
/// c, in order of k, or ±f for one output (+ for label 1). The point keeps its class where all are positive.
struct MarginBounds {
  Index each = 1;
  std::vector<double> centre;
  std::vector<double> radius;

  MarginBounds() = default;
  MarginBounds(Index balls, Index outputs);
  /// Sum of two, ball by ball.
  void add(const MarginBounds& other);
  /// Those of `part` in place of as many from `ball` on.
  void put(Index ball, const MarginBounds& part);
};

/// Margins of outputs that are enclosed already; `labels` has one for each sample.
[[nodiscard]] MarginBounds margins_of(const Enclosure& outputs, std::span<const Index> labels);

/// Margins of the outputs of a dense layer at one position, of its weights less those of `minus` where there are any:
/// z_c − z_k has the radius w_scale·Σ rᵢ|w_ic − w_ik|, less than those of z_c and z_k together.
template <std::floating_point T>
[[nodiscard]] MarginBounds class_differences(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                                             const Enclosure& a, std::span<const Index> labels);

}  // namespace widelimit
