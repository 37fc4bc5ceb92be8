#pragma once

#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/engine/scalar_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

/// Ranges of activations on intervals, one at a time, for the host and for devices. Functions of the mathematical
/// library are taken to err by at most 8 units in the last place, as those of glibc and of CUDA do.
/// [docs/theory/certificates-proof.md#finite-networks]
namespace widelimit {

/// 32 units of rounding relative to φ(x): the library's error and the operations around it.
inline constexpr double relative_slack = 0x1p-48;
/// Where φ is a composition, rounding inside it is an absolute error: at most a few units, since |x φ'(x)| < 2 wherever
/// φ is not nearly linear.
inline constexpr double inner_slack = 0x1p-47;

/// A function that falls, then rises.
struct Valley {
  double left, right;  ///< φ falls before `left` and rises after `right`
  double bottom;       ///< below its least value
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
                                                          const Valley& valley) {
  if (x.low >= valley.right) return range_through(f, x.low, x.high);
  if (x.high <= valley.left) return range_through(f, x.high, x.low);
  const double higher = std::max(range_through(f, x.low, x.low).high, range_through(f, x.high, x.high).high);
  return {valley.bottom, higher};
}

/// φ rises up to 0 and falls from there, with φ(0) = top.
[[nodiscard]] WIDELIMIT_BOTH inline Interval hill_range(const ScalarFunction& f, const Interval& x, double top) {
  if (x.high <= 0) return range_through(f, x.low, x.high);
  if (x.low >= 0) return range_through(f, x.high, x.low);
  const double lower = std::min(range_through(f, x.low, x.low).low, range_through(f, x.high, x.high).low);
  return {lower, top};
}

/// Whether a point of `at` + 2π·ℤ lies in the interval, or is within rounding of it.
[[nodiscard]] WIDELIMIT_BOTH inline bool meets_turn(const Interval& x, double at) {
  constexpr double turn = 2 * std::numbers::pi;
  constexpr double doubt = 1e-9;
  return std::ceil((x.low - at) / turn - doubt) <= std::floor((x.high - at) / turn + doubt);
}

/// sin on an interval; `shift` 0, or π/2 for cos.
[[nodiscard]] WIDELIMIT_BOTH inline Interval wave_range(const Interval& x, double shift) {
  // Beyond it the argument modulo 2π is not known with certainty, and sin and cos are only known to lie in [−1, 1].
  constexpr double longest_argument = 1e6;
  if (!(std::abs(x.low) <= longest_argument && std::abs(x.high) <= longest_argument)) return {-1, 1};
  const double first = shift == 0 ? std::sin(x.low) : std::cos(x.low);
  const double last = shift == 0 ? std::sin(x.high) : std::cos(x.high);
  const double low = std::min(first, last) - inner_slack;
  const double high = std::max(first, last) + inner_slack;
  const double crest = std::numbers::pi / 2 - shift;
  return {meets_turn(x, crest - std::numbers::pi) ? -1 : std::max(low, -1.0),
          meets_turn(x, crest) ? 1 : std::min(high, 1.0)};
}

/// √2·sin(√(2γ)·x + π/4).
[[nodiscard]] WIDELIMIT_BOTH inline Interval rbf_range(double gamma, const Interval& x) {
  const double frequency = std::sqrt(2 * gamma);
  const double least = frequency * x.low;
  const double most = frequency * x.high;
  const Interval wave = wave_range({least + std::numbers::pi / 4 - relative_slack * (std::abs(least) + 1),
                                    most + std::numbers::pi / 4 + relative_slack * (std::abs(most) + 1)},
                                   0);
  return {below(std::numbers::sqrt2 * wave.low), above(std::numbers::sqrt2 * wave.high)};
}

/// The range of φ on [low, high], outwards: the ends where φ is monotone, with the extremum between them where it has
/// one (abs, even powers, gaussian, gelu, swish), or those of a wave (sin, cos, rbf). Not of polynomial and hermite.
[[nodiscard]] WIDELIMIT_BOTH inline Interval activation_range(const ScalarFunction& f, const Interval& x) {
  const Valley at_zero{0, 0, 0};
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
