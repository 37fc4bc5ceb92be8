#pragma once

#include "widelimit/finite/layers/tensor.hpp"

#include <cmath>

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

/// Added where a product may have fallen below the normal numbers: above anything that underflow takes away.
inline constexpr double underflow = 0x1p-1000;

/// Numbers below and above what was computed with one or two roundings: 2⁻⁵¹ is four units of rounding.
[[nodiscard]] inline double rounded_down(double value) { return value - (std::abs(value) * 0x1p-51 + underflow); }
[[nodiscard]] inline double rounded_up(double value) { return value + (std::abs(value) * 0x1p-51 + underflow); }

/// g ≥ γ_{terms+8} + 8u with γ_k = ku/(1 − ku): the relative error of a sum of so many products in any order, with
/// room for the few operations around it.
[[nodiscard]] inline double summation_error(Index terms) { return 1.01 * (static_cast<double>(terms) + 16) * 0x1p-53; }

/// Both ends of a value, outwards.
struct Ends {
  double low;
  double high;
};
[[nodiscard]] inline Ends ends_of(double centre, double radius) {
  return {rounded_down(centre - radius), rounded_up(centre + radius)};
}
/// Writes the interval [low, high] as centre and radius, outwards.
inline void set_ends(double low, double high, double& centre, double& radius) {
  const double middle = 0.5 * low + 0.5 * high;
  radius = rounded_up(std::max(middle - low, high - middle));
  centre = middle;
}

}  // namespace widelimit
