#pragma once

#include "widelimit/engine/enclosure/interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

/// Multiplication by powers of two, exact up to underflow and overflow. [docs/theory/certificates-proof.md#underflow]
namespace widelimit {

/// Returns the multiple of 64 nearest to log₂ of a modulus; 0 for 0 and for moduli between 2⁻³¹ and 2³¹, so that
/// ordinary problems are not rescaled.
[[nodiscard]] WIDELIMIT_BOTH inline int scale_exponent(double modulus) {
  if (modulus > 0x1p-31 && modulus < 0x1p+31) return 0;
  if (!(modulus > 0) || !(modulus <= std::numeric_limits<double>::max())) return 0;
  return static_cast<int>(64 * std::lround(std::ilogb(modulus) / 64.0));
}

/// x·2^exponent, rounded down if subnormal; ±∞ on overflow.
[[nodiscard]] WIDELIMIT_BOTH inline double ldexp_below(double x, int exponent) {
  const double y = std::ldexp(x, exponent);
  const bool subnormal = std::abs(y) < std::numeric_limits<double>::min();
  return subnormal && std::ldexp(y, -exponent) > x ? std::nextafter(y, -std::numeric_limits<double>::infinity()) : y;
}

/// x·2^exponent, rounded down; underflow moves down, overflow yields 2⁶⁰⁰ or −∞.
[[nodiscard]] WIDELIMIT_BOTH inline double scaled_below(double x, int exponent) {
  constexpr double surely_finite = 0x1p+600;
  if (exponent == 0 || x == 0) return x;
  return std::min(ldexp_below(x, exponent), surely_finite);
}
[[nodiscard]] WIDELIMIT_BOTH inline double scaled_above(double x, int exponent) { return -scaled_below(-x, exponent); }
/// Scales both ends, rounded outward.
[[nodiscard]] WIDELIMIT_BOTH inline Interval scaled(const Interval& a, int exponent) {
  return {scaled_below(a.low, exponent), scaled_above(a.high, exponent)};
}

}  // namespace widelimit
