#include "widelimit/certificate/network/activation_range.hpp"

#include "widelimit/finite/sample_team.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

namespace widelimit {

namespace {

/// 32 units of rounding relative to φ(x): the library's error and the operations around it.
constexpr double relative_slack = 0x1p-48;
/// Where φ is a composition, rounding inside it is an absolute error: at most a few units, since |x φ'(x)| < 2 wherever
/// φ is not nearly linear.
constexpr double inner_slack = 0x1p-47;
/// Beyond it the argument modulo 2π is not known with certainty, and sin and cos are only known to lie in [−1, 1].
constexpr double longest_argument = 1e6;

struct Valley {
  double left, right;  ///< φ falls before `left` and rises after `right`
  double bottom;       ///< below its least value
};
constexpr Valley gelu_valley{-0.75179153, -0.75179151, -0.169971207479905};
constexpr Valley swish_valley{-1.27846455, -1.27846452, -0.278464542761075};

double slack_of(const Activation& activation, double value) {
  const double powers = static_cast<double>(activation.degree) * 0x1p-52;
  switch (activation.phi) {
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

Interval through(const Activation& activation, double least_at, double most_at) {
  const double low = evaluate(activation, least_at);
  const double high = evaluate(activation, most_at);
  return {low - slack_of(activation, low), high + slack_of(activation, high)};
}

/// φ falls, then rises.
Interval valley_range(const Activation& activation, Interval x, const Valley& valley) {
  if (x.low >= valley.right) return through(activation, x.low, x.high);
  if (x.high <= valley.left) return through(activation, x.high, x.low);
  const double higher = std::max(through(activation, x.low, x.low).high, through(activation, x.high, x.high).high);
  return {valley.bottom, higher};
}

/// φ rises up to 0 and falls from there, with φ(0) = top.
Interval hill_range(const Activation& activation, Interval x, double top) {
  if (x.high <= 0) return through(activation, x.low, x.high);
  if (x.low >= 0) return through(activation, x.high, x.low);
  const double lower = std::min(through(activation, x.low, x.low).low, through(activation, x.high, x.high).low);
  return {lower, top};
}

/// Whether a point of `at` + 2π·ℤ lies in the interval, or is within rounding of it.
bool meets_turn(Interval x, double at) {
  constexpr double turn = 2 * std::numbers::pi;
  constexpr double doubt = 1e-9;
  return std::ceil((x.low - at) / turn - doubt) <= std::floor((x.high - at) / turn + doubt);
}

/// sin on an interval; `shift` 0, or π/2 for cos.
Interval wave_range(Interval x, double shift) {
  if (!(std::abs(x.low) <= longest_argument && std::abs(x.high) <= longest_argument)) return {-1, 1};
  const auto value = [&](double at) { return shift == 0 ? std::sin(at) : std::cos(at); };
  const double low = std::min(value(x.low), value(x.high)) - inner_slack;
  const double high = std::max(value(x.low), value(x.high)) + inner_slack;
  const double crest = std::numbers::pi / 2 - shift;
  return {meets_turn(x, crest - std::numbers::pi) ? -1 : std::max(low, -1.0),
          meets_turn(x, crest) ? 1 : std::min(high, 1.0)};
}

/// √2·sin(√(2γ)·x + π/4).
Interval rbf_range(double gamma, Interval x) {
  const double frequency = std::sqrt(2 * gamma);
  const auto argument = [&](double at, double sign) {
    const double turned = frequency * at;
    return turned + std::numbers::pi / 4 + sign * (relative_slack * (std::abs(turned) + 1));
  };
  const Interval wave = wave_range({argument(x.low, -1), argument(x.high, 1)}, 0);
  return {below(std::numbers::sqrt2 * wave.low), above(std::numbers::sqrt2 * wave.high)};
}

/// The loop that every step of a search goes through. c ≥ r and c ≤ −r are exact questions about the interval: one that
/// has a sign passes or vanishes without rounding, and [0, h] is h/2 ± h/2.
void rectify_intervals(double* centre, double* radius, Index size) {
  for (Index i = 0; i < size; ++i) {
    const double c = centre[i];
    const double r = radius[i];
    const double half = 0.5 * above(c + r);
    centre[i] = c >= r ? c : c <= -r ? 0.0 : half;
    radius[i] = c >= r ? r : c <= -r ? 0.0 : half;
  }
}

}  // namespace

bool has_range(Phi phi) { return phi != Phi::hermite && phi != Phi::polynomial && phi != Phi::custom; }

Interval activation_range(const Activation& activation, Interval x) {
  const Valley at_zero{0, 0, 0};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!std::isfinite(x.low) || !std::isfinite(x.high)) return {-infinity, infinity};
  switch (activation.phi) {
    case Phi::abs:
      return valley_range(activation, x, at_zero);
    case Phi::leaky_relu:
      return activation.slope < 0 ? valley_range(activation, x, at_zero) : through(activation, x.low, x.high);
    case Phi::monomial:
      if (activation.degree % 2 == 1) return through(activation, x.low, x.high);
      return activation.degree == 0 ? Interval{1, 1} : valley_range(activation, x, at_zero);
    case Phi::gelu:
      return valley_range(activation, x, gelu_valley);
    case Phi::swish:
      return valley_range(activation, x, swish_valley);
    case Phi::gaussian:
      return hill_range(activation, x, 1);
    case Phi::sin:
      return wave_range(x, 0);
    case Phi::cos:
      return wave_range(x, std::numbers::pi / 2);
    case Phi::rbf:
      return rbf_range(activation.gamma, x);
    default:
      return through(activation, x.low, x.high);
  }
}

void enclose_activation(const Activation& activation, Enclosure& values, const Engine& engine) {
  const Index size = values.centre.shape().size();
  for_each_sample(values.count(), values.centre.size(), engine, [&](Index n) {
    double* centre = values.centre.sample(n);
    double* radius = values.radius.sample(n);
    if (activation.phi == Phi::relu) {
      rectify_intervals(centre, radius, size);
      return;
    }
    for (Index i = 0; i < size; ++i) {
      const Interval y = activation_range(activation, interval_around(centre[i], radius[i]));
      set_interval(y, centre[i], radius[i]);
    }
  });
}

}  // namespace widelimit
