#pragma once

#include "widelimit/network/activation.hpp"

namespace widelimit {

/// φ(x) with its first three derivatives, as they are between kinks.
struct Jet {
  double value = 0;
  double first = 0;
  double second = 0;
  double third = 0;
};

/// How far derivatives of φ as functions, without point masses, tell all of φ.
enum class Smoothness : std::uint8_t {
  smooth,  ///< φ''' is a function
  kinked,  ///< φ' or φ'' jumps: relu, leaky_relu, abs, rectified_monomial of degree 1 and 2
  none,    ///< φ jumps, or its derivatives are not known: sign, custom
};
[[nodiscard]] Smoothness smoothness(const Activation& activation);

/// φ(−x) = ±φ(x) for all x.
[[nodiscard]] bool has_parity(const Activation& activation);

/// By closed forms. Error{usage} where smoothness() is none.
[[nodiscard]] Jet jet(const Activation& activation, double x);

}  // namespace widelimit
