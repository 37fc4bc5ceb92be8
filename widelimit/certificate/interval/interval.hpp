#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace widelimit {

/// u of float64, rounded to nearest.
inline constexpr double unit_roundoff = 0x1p-53;

/// Added where a product may have fallen below the normal numbers: above anything that underflow takes away.
inline constexpr double underflow = 0x1p-1000;

/// A number below, or above, what was computed with one or two roundings: 2⁻⁵¹ is four units of rounding. What
/// overflowed is at least the largest number, so that infinity may be moved inward. NaN stays NaN, which std::min and
/// std::max give where it comes first.
[[nodiscard]] inline double below(double x) {
  const double y = std::min(x, std::numeric_limits<double>::max());
  return y - (std::abs(y) * 0x1p-51 + underflow);
}
[[nodiscard]] inline double above(double x) {
  const double y = std::max(x, std::numeric_limits<double>::lowest());
  return y + (std::abs(y) * 0x1p-51 + underflow);
}

/// All numbers from low to high. An operation's result holds every result of numbers from its operands: the ends are
/// rounded to nearest and moved outward.
struct Interval {
  double low = 0;
  double high = 0;

  static Interval of(double x) { return {x, x}; }
  [[nodiscard]] double width() const { return high - low; }
  [[nodiscard]] double middle() const { return low + (high - low) / 2; }
  /// No number of it is farther from the middle.
  [[nodiscard]] double radius() const { return std::max(above(high - middle()), above(middle() - low)); }
  /// No number of it has a larger modulus.
  [[nodiscard]] double modulus() const { return std::max(std::abs(low), std::abs(high)); }
};

[[nodiscard]] inline Interval outward(double low, double high) { return {below(low), above(high)}; }

/// The least and the largest of four.
[[nodiscard]] inline Interval outward_of(double a, double b, double c, double d) {
  return outward(std::min(std::min(a, b), std::min(c, d)), std::max(std::max(a, b), std::max(c, d)));
}

[[nodiscard]] inline Interval operator+(const Interval& a, const Interval& b) {
  return outward(a.low + b.low, a.high + b.high);
}
[[nodiscard]] inline Interval operator-(const Interval& a, const Interval& b) {
  return outward(a.low - b.high, a.high - b.low);
}
[[nodiscard]] inline Interval operator*(const Interval& a, const Interval& b) {
  return outward_of(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
}
/// b > 0 or b < 0 throughout.
[[nodiscard]] inline Interval operator/(const Interval& a, const Interval& b) {
  return outward_of(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high);
}
/// Of what is negative by rounding: 0. What is no number stays none, which std::max gives where it comes first.
[[nodiscard]] inline Interval sqrt(const Interval& a) {
  return {std::max(below(std::sqrt(std::max(a.low, 0.0))), 0.0), above(std::sqrt(std::max(a.high, 0.0)))};
}
/// All numbers of a that lie in [low, high], and the nearer end where there is none.
[[nodiscard]] inline Interval clamp(const Interval& a, double low, double high) {
  return {std::clamp(a.low, low, high), std::clamp(a.high, low, high)};
}

[[nodiscard]] inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
[[nodiscard]] inline bool finite(const Interval& a) { return std::isfinite(a.low) && std::isfinite(a.high); }

/// [low, high] of a centre and a radius.
[[nodiscard]] inline Interval interval_around(double centre, double radius) {
  return outward(centre - radius, centre + radius);
}

/// κ₀(ρ) = (π − arccos ρ)/π of ρ in [−1, 1], increasing. The library's arccos is right to 1 ulp of a number up to π,
/// hence to 2⁻⁵¹; the difference and the quotient add as much again at most.                  [docs/theory/duals.md]
[[nodiscard]] inline Interval kappa0(const Interval& rho) {
  constexpr double slack = 0x1p-50;
  const auto at = [](double r) { return (std::numbers::pi - std::acos(r)) / std::numbers::pi; };
  return {std::max(0.0, at(rho.low) - slack), std::min(1.0, at(rho.high) + slack)};
}
/// κ₁(ρ) = (√(1−ρ²) + (π − arccos ρ)ρ)/π, increasing; (1−ρ)(1+ρ) loses no digits.
[[nodiscard]] inline Interval kappa1(const Interval& rho) {
  constexpr double slack = 0x1p-49;
  const auto at = [](double r) {
    return (std::sqrt((1 - r) * (1 + r)) + (std::numbers::pi - std::acos(r)) * r) / std::numbers::pi;
  };
  return {std::max(0.0, at(rho.low) - slack), std::min(1.0, at(rho.high) + slack)};
}

}  // namespace widelimit
