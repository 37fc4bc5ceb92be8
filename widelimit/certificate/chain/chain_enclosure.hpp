#pragma once

#include "widelimit/certificate/binary_scale.hpp"
#include "widelimit/certificate/chain/chain.hpp"
#include "widelimit/certificate/interval/interval.hpp"
#include "widelimit/kernel/gram.hpp"

namespace widelimit {

/// Two inputs after the first layer, which sees x̃ = (x, b√d/w): a bias there is one more coordinate, which never moves.
struct LiftedPair {
  Interval norm;   ///< ‖x̃‖, in units of 2^exponent
  Interval other;  ///< ‖x̃'‖, in units of 2^other_exponent
  Interval rho;    ///< cosine of x̃ and x̃'
  int exponent = 0, other_exponent = 0;
};

/// b√d/w of the first layer; 0 where it has no bias.
[[nodiscard]] Interval lifted_coordinate(const Chain& chain);

/// √q of a variance q, in units of 2^exponent.
struct Deviation {
  Interval value;
  int exponent = 0;
  [[nodiscard]] Interval in_units_of(int other) const { return scaled(value, exponent - other); }
};

/// A kernel entry Θ = scale·other·value, where scale depends on x alone, other on x' alone, and value, but for biases
/// of later layers, on the cosine alone; and the derivatives of value.
struct EnclosedEntry {
  Deviation scale, other;
  Interval value;
  Interval by_rho;      ///< ∂/∂ρ
  Interval by_norm;     ///< ‖x̃‖·∂/∂‖x̃‖
  bool sloped = false;  ///< whether there are derivatives
};

/// Intervals through the layers. Exact for the correlations, which grow with those before and are unimodal in ‖x̃‖.
[[nodiscard]] EnclosedEntry enclose_entry(const Chain& chain, Kind kind, const LiftedPair& pair, bool sloped);

}  // namespace widelimit
