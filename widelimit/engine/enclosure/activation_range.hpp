#pragma once

#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/engine/scalar_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

/// Ranges of activations on intervals, elementwise, for host and device code. Assumes an error of at most 8 ulp of the
/// math library, as for glibc and CUDA. [docs/theory/certificates-proof.md#finite-networks]
namespace widelimit {

/// 32 units of rounding relative to φ(x): the error of the math library and of the operations around it.
inline constexpr double relative_slack = 0x1p-48;
/// Absolute error of roundings inside a composite φ: a few units at most, since |x φ'(x)| < 2 wherever φ is not nearly
/// linear.
inline constexpr double inner_slack = 0x1p-47;

/// A function with one minimum that decreases before it and increases after it.
struct Unimodal {
  double left, right;  ///< φ decreases before `left` and increases after `right`
  double bottom;       ///< lower bound of the minimum
};

[[nodiscard]] WIDELIMIT_BOTH inline double range_slack(const ScalarFunction& f, double value) {
  const double powers = static_cast<double>(f.degree) * 0x1p-52;
  switch (f.phi) {
    case Phi::identity:
    case Phi::relu:
    case Phi::abs:
    case Phi::sign:
      return 0;
    case Phi::monomial:
    case Phi::rectified_monomial:
      return (relative_slack + powers) * std::abs(value) + underflow;
    case Phi::gelu:
    case Phi::swish:
    case Phi::gaussian:
    case Phi::sin:
    case Phi::cos:
      return relative_slack * std::abs(value) + inner_slack;
    default:
      return relative_slack * std::abs(value) + underflow;
  }
}

[[nodiscard]] WIDELIMIT_BOTH inline Interval range_through(const ScalarFunction& f, double least_at, double most_at) {
  const double low = evaluate(f, least_at);
  const double high = evaluate(f, most_at);
  return {low - range_slack(f, low), high + range_slack(f, high)};
}

[[nodiscard]] WIDELIMIT_BOTH inline Interval valley_range(const ScalarFunction& f, const Interval& x,
                                                          const Unimodal& valley) {
  if (x.low >= valley.right) return range_through(f, x.low, x.high);
  if (x.high <= valley.left) return range_through(f, x.high, x.low);
  const double higher = std::max(range_through(f, x.low, x.low).high, range_through(f, x.high, x.high).high);
  return {valley.bottom, higher};
}

/// Range of a φ that increases up to 0 and decreases from there, with φ(0) = top.
[[nodiscard]] WIDELIMIT_BOTH inline Interval hill_range(const ScalarFunction& f, const Interval& x, double top) {
  if (x.high <= 0) return range_through(f, x.low, x.high);
  if (x.low >= 0) return range_through(f, x.high, x.low);
  const double lower = std::min(range_through(f, x.low, x.low).low, range_through(f, x.high, x.high).low);
  return {lower, top};
}

/// Returns true if a point of `at` + 2π·ℤ lies in the interval up to rounding.
[[nodiscard]] WIDELIMIT_BOTH inline bool contains_extremum(const Interval& x, double at) {
  constexpr double turn = 2 * std::numbers::pi;
  constexpr double doubt = 1e-9;
  return std::ceil((x.low - at) / turn - doubt) <= std::floor((x.high - at) / turn + doubt);
}

/// sin on an interval if `shift` is 0, cos if it is π/2.
[[nodiscard]] WIDELIMIT_BOTH inline Interval wave_range(const Interval& x, double shift) {
  // For larger arguments the reduction modulo 2π is not certified, so the range is [−1, 1].
  constexpr double longest_argument = 1e6;
  if (!(std::abs(x.low) <= longest_argument && std::abs(x.high) <= longest_argument)) return {-1, 1};
  const double first = shift == 0 ? std::sin(x.low) : std::cos(x.low);
  const double last = shift == 0 ? std::sin(x.high) : std::cos(x.high);
  const double low = std::min(first, last) - inner_slack;
  const double high = std::max(first, last) + inner_slack;
  const double crest = std::numbers::pi / 2 - shift;
  return {contains_extremum(x, crest - std::numbers::pi) ? -1 : std::max(low, -1.0),
          contains_extremum(x, crest) ? 1 : std::min(high, 1.0)};
}

/// Range of √2·sin(√(2γ)·x + π/4).
[[nodiscard]] WIDELIMIT_BOTH inline Interval rbf_range(double gamma, const Interval& x) {
  const double frequency = std::sqrt(2 * gamma);
  const double least = frequency * x.low;
  const double most = frequency * x.high;
  const Interval wave = wave_range({least + std::numbers::pi / 4 - relative_slack * (std::abs(least) + 1),
                                    most + std::numbers::pi / 4 + relative_slack * (std::abs(most) + 1)},
                                   0);
  return {below(std::numbers::sqrt2 * wave.low), above(std::numbers::sqrt2 * wave.high)};
}

/// Returns an outward-rounded range of φ on [low, high]: from the ends if φ is monotone, with the extremum between them
/// if it has one (abs, even powers, gaussian, gelu, swish), or the range of a wave (sin, cos, rbf). Not for polynomial
/// and hermite.
[[nodiscard]] WIDELIMIT_BOTH inline Interval activation_range(const ScalarFunction& f, const Interval& x) {
  const Unimodal at_zero{0, 0, 0};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!finite(x)) return {-infinity, infinity};
  switch (f.phi) {
    case Phi::abs:
      return valley_range(f, x, at_zero);
    case Phi::leaky_relu:
      return f.slope < 0 ? valley_range(f, x, at_zero) : range_through(f, x.low, x.high);
    case Phi::monomial:
      if (f.degree % 2 == 1) return range_through(f, x.low, x.high);
      return f.degree == 0 ? Interval{1, 1} : valley_range(f, x, at_zero);
    case Phi::gelu:
      return valley_range(f, x, {-0.75179153, -0.75179151, -0.169971207479905});
    case Phi::swish:
      return valley_range(f, x, {-1.27846455, -1.27846452, -0.278464542761075});
    case Phi::gaussian:
      return hill_range(f, x, 1);
    case Phi::sin:
      return wave_range(x, 0);
    case Phi::cos:
      return wave_range(x, std::numbers::pi / 2);
    case Phi::rbf:
      return rbf_range(f.gamma, x);
    default:
      return range_through(f, x.low, x.high);
  }
}

}  // namespace widelimit
