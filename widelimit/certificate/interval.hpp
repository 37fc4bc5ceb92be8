#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace widelimit {

/// The next number below or above: what one operation rounded to nearest may have lost.
[[nodiscard]] inline double below(double x) { return std::nextafter(x, -std::numeric_limits<double>::infinity()); }
[[nodiscard]] inline double above(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

/// All numbers from low to high. An operation's result holds every result of numbers from its operands: the ends are
/// rounded to nearest and moved outward by one unit.
struct Interval {
  double low = 0;
  double high = 0;

  static Interval of(double x) { return {x, x}; }
  [[nodiscard]] double width() const { return high - low; }
};

[[nodiscard]] inline Interval outward(double low, double high) { return {below(low), above(high)}; }

[[nodiscard]] inline Interval operator+(const Interval& a, const Interval& b) {
  return outward(a.low + b.low, a.high + b.high);
}
[[nodiscard]] inline Interval operator-(const Interval& a, const Interval& b) {
  return outward(a.low - b.high, a.high - b.low);
}
[[nodiscard]] inline Interval operator*(const Interval& a, const Interval& b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return outward(low, high);
}
/// b > 0 or b < 0 throughout.
[[nodiscard]] inline Interval operator/(const Interval& a, const Interval& b) {
  const auto [low, high] = std::minmax({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
  return outward(low, high);
}
/// Of what is negative by rounding: 0.
[[nodiscard]] inline Interval sqrt(const Interval& a) {
  return {std::max(0.0, below(std::sqrt(std::max(0.0, a.low)))), above(std::sqrt(std::max(0.0, a.high)))};
}
/// All numbers of a that lie in [low, high], and the nearer end where there is none.
[[nodiscard]] inline Interval clamp(const Interval& a, double low, double high) {
  return {std::clamp(a.low, low, high), std::clamp(a.high, low, high)};
}

/// κ₀(ρ) = (π − arccos ρ)/π of ρ in [−1, 1], increasing. The library's arccos is right to 1 ulp of a number up to π,
/// hence to 2⁻⁵¹; the difference and the quotient add as much again at most.                [mathematics §1]
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
