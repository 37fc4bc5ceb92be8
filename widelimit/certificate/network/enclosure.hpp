#pragma once

#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/finite/layers/tensor.hpp"

#include <algorithm>

namespace widelimit {

/// Every value v of a layer, for all inputs of a ball: |v − centre| ≤ radius as real numbers, each sample with its own
/// ball. Radii hold what rounding did to the centres, so that the statement is one about the network and not about this
/// program's arithmetic.                                               [docs/theory/certificates.md#finite-networks]
struct Enclosure {
  Tensor<double> centre;
  Tensor<double> radius;

  [[nodiscard]] Index count() const { return centre.count(); }
  void resize(Index count, const Shape& shape) {
    centre.resize(count, shape);
    radius.resize(count, shape);
  }
};

/// g ≥ γ_{terms+8} + 8u with γ_k = ku/(1 − ku): the relative error of a sum of so many products in any order, with
/// room for the few operations around it.
[[nodiscard]] inline double summation_error(Index terms) {
  return 1.01 * (static_cast<double>(terms) + 16) * unit_roundoff;
}

/// Writes an interval as centre and radius, outwards.
inline void set_interval(const Interval& x, double& centre, double& radius) {
  const double middle = 0.5 * x.low + 0.5 * x.high;
  radius = above(std::max(middle - x.low, x.high - middle));
  centre = middle;
}

}  // namespace widelimit
