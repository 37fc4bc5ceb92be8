#pragma once

#include "widelimit/network/activation.hpp"

namespace widelimit {

/// φ(x) and its first three derivatives, excluding point masses at kinks.
struct Jet {
  double value = 0;
  double first = 0;
  double second = 0;
  double third = 0;
};

/// Whether the derivatives of φ as functions, without point masses, determine φ.
enum class Smoothness : std::uint8_t {
  smooth,  ///< φ''' is a function
  kinked,  ///< φ' or φ'' jumps: relu, leaky_relu, abs, rectified_monomial of degree 1 and 2
  none,    ///< φ jumps, or its derivatives are unknown: sign, custom
};
[[nodiscard]] Smoothness smoothness(const Activation& activation);

/// Whether φ is known to be even or odd.
[[nodiscard]] bool has_parity(const Activation& activation);

/// Computes the jet by closed forms. Throws Error{usage} if smoothness() is none.
[[nodiscard]] Jet jet(const Activation& activation, double x);

}  // namespace widelimit
