#pragma once

#include "widelimit/engine/enclosure/arccos.hpp"
#include "widelimit/engine/enclosure/both.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace widelimit {

/// Unit roundoff u of float64, rounding to nearest.
inline constexpr double unit_roundoff = 0x1p-53;

/// Absolute slack for products that may underflow; exceeds any underflow error.
inline constexpr double underflow = 0x1p-1000;

/// Lower and upper bounds of a number computed with one or two roundings: 2⁻⁵¹ is four units of rounding. An overflowed
/// value is at least the largest number in modulus, so infinity may be moved inward. NaN is kept, because std::min and
/// std::max return their first argument if it is NaN.
[[nodiscard]] WIDELIMIT_BOTH inline double below(double x) {
  const double y = std::min(x, std::numeric_limits<double>::max());
  return y - (std::abs(y) * 0x1p-51 + underflow);
}
[[nodiscard]] WIDELIMIT_BOTH inline double above(double x) {
  const double y = std::max(x, std::numeric_limits<double>::lowest());
  return y + (std::abs(y) * 0x1p-51 + underflow);
}

/// The interval [low, high]. The result of an operation contains all results of numbers from its operands: ends are
/// rounded to nearest and moved outward.
struct Interval {
  double low = 0;
  double high = 0;

  WIDELIMIT_BOTH static Interval of(double x) { return {x, x}; }
  [[nodiscard]] WIDELIMIT_BOTH double width() const { return high - low; }
  [[nodiscard]] WIDELIMIT_BOTH double middle() const { return low + (high - low) / 2; }
  /// Returns an upper bound of the distance from the middle.
  [[nodiscard]] WIDELIMIT_BOTH double radius() const { return std::max(above(high - middle()), above(middle() - low)); }
  /// Returns the largest modulus.
  [[nodiscard]] WIDELIMIT_BOTH double modulus() const { return std::max(std::abs(low), std::abs(high)); }

  /// Negative ends, due to rounding, count as 0. NaN is kept, because std::max returns its first argument if it is NaN.
  /// A friend, so that it does not hide sqrt of numbers.
  [[nodiscard]] WIDELIMIT_BOTH friend Interval sqrt(const Interval& a) {
    return {std::max(below(std::sqrt(std::max(a.low, 0.0))), 0.0), above(std::sqrt(std::max(a.high, 0.0)))};
  }
};

[[nodiscard]] WIDELIMIT_BOTH inline Interval outward(double low, double high) { return {below(low), above(high)}; }

/// Outward-rounded range of four numbers.
[[nodiscard]] WIDELIMIT_BOTH inline Interval outward_of(double a, double b, double c, double d) {
  return outward(std::min(std::min(a, b), std::min(c, d)), std::max(std::max(a, b), std::max(c, d)));
}

[[nodiscard]] WIDELIMIT_BOTH inline Interval operator+(const Interval& a, const Interval& b) {
  return outward(a.low + b.low, a.high + b.high);
}
[[nodiscard]] WIDELIMIT_BOTH inline Interval operator-(const Interval& a, const Interval& b) {
  return outward(a.low - b.high, a.high - b.low);
}
[[nodiscard]] WIDELIMIT_BOTH inline Interval operator*(const Interval& a, const Interval& b) {
  return outward_of(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
}
/// Requires b > 0 or b < 0 throughout.
[[nodiscard]] WIDELIMIT_BOTH inline Interval operator/(const Interval& a, const Interval& b) {
  return outward_of(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high);
}
/// Intersects a with [low, high]; returns the nearer end if the intersection is empty.
[[nodiscard]] WIDELIMIT_BOTH inline Interval clamp(const Interval& a, double low, double high) {
  return {std::clamp(a.low, low, high), std::clamp(a.high, low, high)};
}

[[nodiscard]] WIDELIMIT_BOTH inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
[[nodiscard]] WIDELIMIT_BOTH inline bool finite(const Interval& a) {
  return std::isfinite(a.low) && std::isfinite(a.high);
}

/// Outward-rounded [centre − radius, centre + radius].
[[nodiscard]] WIDELIMIT_BOTH inline Interval interval_around(double centre, double radius) {
  return outward(centre - radius, centre + radius);
}

/// Writes an enclosing centre and radius of an interval.
WIDELIMIT_BOTH inline void set_interval(const Interval& x, double& centre, double& radius) {
  const double middle = 0.5 * x.low + 0.5 * x.high;
  radius = above(std::max(middle - x.low, x.high - middle));
  centre = middle;
}

/// κ₀(ρ) = (π − arccos ρ)/π for ρ in [−1, 1], increasing, with arccos(1 − t) = √t·P(t), t = 1 − |ρ|. P has relative
/// error 10⁻¹⁵; with seven roundings the error of A/π ≤ ½ is below 2⁻⁵⁰ and that of the difference below 2⁻⁴⁹.
/// [docs/theory/certificates-proof.md#sound-in-floating-point]
[[nodiscard]] WIDELIMIT_BOTH inline double kappa0_at(double rho) {
  constexpr auto p = host::coefficients(cpu::ArccosPolynomials<double>::p);
  const double t = 1 - std::abs(rho);
  const double angle = std::sqrt(t) * host::loose_horner(p, t) * std::numbers::inv_pi;
  return rho >= 0 ? 1 - angle : angle;
}
/// (√(1−ρ²) − ρ·arccos ρ)/π = √t·t·Q(t)/π at ρ = 1 − t ≥ 0: at most 1/π; relative error of 9 roundings and 10⁻¹⁵.
[[nodiscard]] WIDELIMIT_BOTH inline double bend_at(double t) {
  constexpr auto q = host::coefficients(cpu::ArccosPolynomials<double>::q);
  return std::sqrt(t) * t * host::loose_horner(q, t) * std::numbers::inv_pi;
}
/// κ₁(ρ) = (√(1−ρ²) + (π − arccos ρ)ρ)/π, increasing; absolute error below 2⁻⁴⁹.
[[nodiscard]] WIDELIMIT_BOTH inline double kappa1_at(double rho) {
  const double bend = bend_at(1 - std::abs(rho));
  return rho >= 0 ? rho + bend : bend;
}
inline constexpr double kappa_slack = 0x1p-49;
[[nodiscard]] WIDELIMIT_BOTH inline Interval kappa0(const Interval& rho) {
  return {std::max(0.0, kappa0_at(rho.low) - kappa_slack), std::min(1.0, kappa0_at(rho.high) + kappa_slack)};
}
[[nodiscard]] WIDELIMIT_BOTH inline Interval kappa1(const Interval& rho) {
  return {std::max(0.0, kappa1_at(rho.low) - kappa_slack), std::min(1.0, kappa1_at(rho.high) + kappa_slack)};
}

}  // namespace widelimit
