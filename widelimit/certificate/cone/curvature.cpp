#include "widelimit/certificate/cone/curvature.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// κ at both ends of each range, at the moduli where a range has negative u, and there at the tangent points' too.
struct CurvatureEnds {
  std::vector<double> low, high;  ///< cosines
  std::vector<double> low_value, high_value;
  std::vector<double> modulus, modulus_value, modulus_slope;  ///< of tangent points
};

/// Ends nearer to the tangent point than a part of what is left on their side are moved out to it: C is monotone there,
/// so that is safe, and the difference it is computed from keeps half of its digits.
CurvatureEnds find_ends(const ConeKernel& kernel, std::span<const CosineRange> ranges) {
  constexpr double least_step = 0x1p-9;
  CurvatureEnds ends;
  std::vector<double> low_modulus, high_modulus;
  for (const auto& [low, tangent, high] : ranges) {
    const double step = least_step * (1 - std::abs(tangent));
    ends.low.push_back(std::max(low >= 0 ? 0.0 : -1.0, std::min(low, tangent - step)));
    ends.high.push_back(std::min(1.0, std::max(high, tangent + step)));
    low_modulus.push_back(std::abs(ends.low.back()));
    high_modulus.push_back(std::abs(ends.high.back()));
    ends.modulus.push_back(std::abs(tangent));
  }
  const auto count = std::ssize(ranges);
  for (auto* values : {&ends.low_value, &ends.high_value, &ends.modulus_value, &ends.modulus_slope}) {
    values->resize(ranges.size());
  }
  kernel.evaluate(count, {.u = low_modulus.data(), .value = ends.low_value.data()});
  kernel.evaluate(count, {.u = high_modulus.data(), .value = ends.high_value.data()});
  kernel.evaluate(count,
                  {.u = ends.modulus.data(), .value = ends.modulus_value.data(), .slope = ends.modulus_slope.data()});
  return ends;
}

/// A number not above κ''(0)/2, the coefficient c₂. φ(u²) = (κ(u) + κ(−u) − 2κ(0))/(2u²) = c₂ + c₄u² + … is convex, so
/// c₂ = φ(0) ≥ 2φ(h) − φ(2h).
double half_curvature_at_zero(const ConeKernel& kernel) {
  constexpr double h = 0x1p-13;
  const auto phi = [&](double square) {
    const double u = std::sqrt(square);
    return (kernel.value(u) + kernel.value(-u) - 2 * kernel.value(0)) / (2 * square);
  };
  const double error = (8 * kernel.value_error() + 0x1p-48 * kernel.largest()) / h;
  return std::max(0.0, 2 * phi(h) - phi(2 * h) - error);
}

}  // namespace

CurvatureBounds::CurvatureBounds(const ConeKernel& kernel, std::span<const CosineRange> ranges)
    : value(ranges.size()), slope(ranges.size()), curvature(ranges.size()) {
  std::vector<double> tangents;
  for (const CosineRange& range : ranges) tangents.push_back(range.tangent);
  kernel.evaluate(std::ssize(ranges), {.u = tangents.data(), .value = value.data(), .slope = slope.data()});
  const CurvatureEnds ends = find_ends(kernel, ranges);
  const double middle = kernel.slope(0);
  const double bend = half_curvature_at_zero(kernel);
  const double value_error = 4 * (kernel.value_error() + kernel.slope_error()) + 0x1p-48 * (kernel.largest() + middle);

  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const double t = tangents[i];
    const bool right = ranges[i].low >= 0;
    // E(u) = κ(|u|) − κ'(0)|u| is κ up to a straight line where no u is negative: one formula for both.
    const double straight = right ? 0 : middle;
    const double base = ends.modulus_value[i] - straight * ends.modulus[i];
    const double tilt = std::copysign(ends.modulus_slope[i] - straight, t);
    const double tilt_error =
        2 * kernel.slope_error() * (1 + 1 / std::sqrt(1 - ends.modulus[i])) + 0x1p-50 * (std::abs(tilt) + middle);
    const auto divided = [&](double u, double kappa, double sign) {
      const double step = u - t;
      if (step == 0) return 0.0;
      const double above_tangent = kappa - straight * std::abs(u) - base - tilt * step;
      return (above_tangent + sign * (value_error + tilt_error * std::abs(step))) / (step * step);
    };
    const double most =
        std::max(divided(ends.low[i], ends.low_value[i], 1), divided(ends.high[i], ends.high_value[i], 1));
    const double across = kernel.depth() <= 1 ? bend : std::max(2 * bend - most, kernel.convex() ? 0 : -most);
    const double least = right ? std::max(0.0, divided(ends.low[i], ends.low_value[i], -1)) : across;
    constexpr double slack = 0x1p-48;
    curvature[i] = {least - slack * std::abs(least), most + slack * std::abs(most)};
  }
}

}  // namespace widelimit
