#include "widelimit/engine/reference/complement.hpp"

#include "widelimit/engine/reference/activation.hpp"
#include "widelimit/recipe/quadrature/gauss_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace widelimit::reference {

namespace {

using Real = long double;

constexpr Real pi = std::numbers::pi_v<Real>;

/// rr'(sin α − α cos α) = √(qq' − Σ²) − α|Σ|, where α = arccos |ρ|. For α ≤ 1/4 by the series sin α − α cos α = Σ_k
/// (−1)^{k+1} 2k/(2k+1)!·α^{2k+1}.
Real sine_less_cosine(const GaussianPair<Real>& pair) {
  const Real angle = pair.c >= 0 ? pair.angle() : pair.opening();
  if (angle > 0.25L) return pair.root() - angle * std::abs(pair.c);
  Real power = angle;
  Real sum = 0;
  for (int k = 1; k <= 9; ++k) {
    power *= -angle * angle / static_cast<Real>(2 * k * (2 * k + 1));
    sum -= static_cast<Real>(2 * k) * power;
  }
  return geometric_mean(pair.q1, pair.q2) * sum;
}

/// Dual of the rectifier of slope s, with h = (1−s)²/2 and RR' = (s + h)rr':
///   ρ ≥ 0:  RR' − Σ_new = (s + h)·rr'(1−ρ) − h·rr'(sin α − α cos α)/π,
///   ρ < 0:  RR' − Σ_new = (s + h)·rr'(1+ρ) − (2s + h)Σ − h·rr'(sin α − α cos α)/π,
///           RR' + Σ_new = (s + h)·rr'(1+ρ) − hΣ + h·rr'(sin α − α cos α)/π.
void rectify(Real s, const ActivationInput& input, ActivationOutput& output) {
  const GaussianPair<Real>& pair = input.pair;
  const Real h = (1 - s) * (1 - s) / 2;
  const Real w = h * sine_less_cosine(pair) / pi;
  output.excess = (s + h) * input.excess;
  if (pair.c >= 0) {
    output.minus = std::max(Real(0), (s + h) * pair.minus - w);
  } else {
    output.minus = std::max(Real(0), (s + h) * pair.plus - (2 * s + h) * pair.c - w);
    output.plus = (s + h) * pair.plus - h * pair.c + w;
    output.value.sigma = s * pair.c + w;
  }
}

/// Interpolates an even function f at h from its values at `step`, step/2 and step/4 (Neville's algorithm).
template <typename F>
Real even_interpolation(const F& f, Real step, Real h) {
  std::array<Real, 3> x{};
  std::array<Real, 3> y{};
  for (std::size_t i = 0; i < 3; ++i) {
    x[i] = step * step;
    y[i] = f(step);
    step /= 2;
  }
  for (std::size_t level = 1; level < 3; ++level) {
    for (std::size_t i = 0; i + level < 3; ++i) {
      y[i] = ((h * h - x[i + level]) * y[i] + (x[i] - h * h) * y[i + 1]) / (x[i] - x[i + level]);
    }
  }
  return y[0];
}

/// Complements of a continuous φ with closed-form dual, at variances q·e^{±l/2}.
class Smooth {
 public:
  Smooth(const Recipe& recipe, const Dual& dual, const ActivationInput& input)
      : recipe_(recipe),
        dual_(dual),
        input_(input),
        middle_(geometric_mean(input.pair.q1, input.pair.q2)),
        log_ratio_(std::log1p(input.excess / input.pair.q2)) {
    // sin and cos vary over lengths of 1 in r, all other φ over a constant factor.
    const bool wave = dual.phi == Phi::sin || dual.phi == Phi::cos;
    step_ = 0x1p-8L / (wave ? std::max(Real(1), std::sqrt(middle_)) : 1);
  }

  /// E[φ(u)²] − E[φ(v)²] as l times the interpolated slope.
  [[nodiscard]] Real excess() const {
    if (std::abs(log_ratio_) > step_) return input_.square1 - input_.square2;
    const auto slope = [&](Real l) { return (square(l / 2) - square(-l / 2)) / l; };
    return log_ratio_ * even_interpolation(slope, step_, log_ratio_);
  }

  /// Sets RR' ∓ Σ_new, one of which is small. With e = ±rr' the nearer end of the range of covariances,
  ///  RR' ∓ Σ_new = (RR' ∓ E[φφ](e)) ± (E[φφ](e) − E[φφ](c)).
  void complements(ActivationOutput& output) const {
    const Real sign = input_.pair.c >= 0 ? 1 : -1;
    const Real end = dual_value(recipe_, dual_, {input_.pair.q1, input_.pair.q2, sign * middle_}).sigma;
    const Real way = sign * integral(sign);
    (end >= 0 ? output.minus : output.plus) = std::max(Real(0), spread(sign) + (end >= 0 ? way : -way));
  }

 private:
  [[nodiscard]] Real square(Real l) const {
    const Real q = middle_ * std::exp(l);
    return dual_value(recipe_, dual_, {q, q, q}).sigma;
  }

  /// RR' − |E[φφ]| at correlation ±1, a term of second order in l.
  [[nodiscard]] Real spread(Real sign) const {
    const bool homogeneous =
        dual_.phi == Phi::monomial || dual_.phi == Phi::rectified_monomial || dual_.phi == Phi::hermite;
    const auto at = [&](Real l) {
      const Real q1 = middle_ * std::exp(l / 2);
      const Real q2 = middle_ * std::exp(-l / 2);
      const GaussianPair<Real> pair(q1, q2, sign * middle_, sign > 0 ? 0 : 2 * middle_, sign > 0 ? 2 * middle_ : 0);
      return geometric_mean(square(l / 2), square(-l / 2)) - std::abs(dual_value(recipe_, dual_, pair).sigma);
    };
    if (homogeneous && sign > 0) return 0;
    constexpr Real parity = 0x1p-40L;  // φ neither even nor odd: the complement at −1 is not small
    if (std::abs(log_ratio_) > step_ || at(0) > parity * square(0)) {
      const GaussianPair<Real> ends(input_.pair.q1, input_.pair.q2, sign * middle_);
      return geometric_mean(input_.square1, input_.square2) - std::abs(dual_value(recipe_, dual_, ends).sigma);
    }
    const auto curvature = [&](Real l) { return at(l) / (l * l); };
    return log_ratio_ * log_ratio_ * even_interpolation(curvature, step_, log_ratio_);
  }

  /// E[φ'φ'] at the covariance ±(rr' − x).
  [[nodiscard]] Real slope(Real sign, Real x) const {
    const Real far = 2 * middle_ - x;
    return dual_value(recipe_, dual_,
                      {input_.pair.q1, input_.pair.q2, sign * (middle_ - x), sign > 0 ? x : far, sign > 0 ? far : x})
        .dot;
  }

  /// ∫E[φ'φ'] over the covariances from c to the nearer end (Price's theorem), on panels that shrink towards the end:
  /// the integrand has a singularity there for kinks, and slightly beyond it for saturated functions. Once the
  /// integrand is constant, one panel covers the rest.
  [[nodiscard]] Real integral(Real sign) const {
    static const GaussLegendre rule = gauss_legendre(16);
    constexpr int panels = 32;
    constexpr Real flat = 0x1p-40L;
    const Real last = slope(sign, 0);
    Real sum = 0;
    Real right = std::min(input_.pair.minus, input_.pair.plus);
    for (int k = 0; k < panels && right > 0; ++k) {
      const bool rest = k + 1 == panels || std::abs(slope(sign, right) - last) <= flat * std::abs(last);
      const Real left = rest ? 0 : right / 4;
      const Real half = (right - left) / 2;
      for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
        const Real x = left + half * (1 + static_cast<Real>(rule.nodes[i]));
        sum += half * static_cast<Real>(rule.weights[i]) * slope(sign, x);
      }
      right = left;
    }
    return sum;
  }

  const Recipe& recipe_;
  const Dual& dual_;
  const ActivationInput& input_;
  Real middle_;
  Real log_ratio_;
  Real step_ = 0;
};

void pass_smooth(const Recipe& recipe, const Dual& dual, const ActivationInput& input, ActivationOutput& output) {
  constexpr Real near = 0x1p-10L;  // for larger distances, the difference of covariances has at least 16 digits
  if (std::min(output.minus, output.plus) >= near * std::max(output.minus, output.plus)) return;
  const Smooth smooth(recipe, dual, input);
  output.excess = smooth.excess();
  smooth.complements(output);
}

}  // namespace

Deviations deviations_of(Real q1, Real q2, Real excess) {
  const Real r1 = std::sqrt(q1);
  const Real r2 = std::sqrt(q2);
  return {r1, r2, r1 + r2 > 0 ? excess / (r1 + r2) : 0};
}

Real cauchy_difference(std::span<const Deviations> terms) {
  Real first = 0, second = 0, inner = 0, along = 0;
  for (const Deviations& r : terms) {
    first += r.first * r.first;
    second += r.second * r.second;
    inner += r.first * r.second;
    along += r.difference * r.second;
  }
  if (!(first > 0) || !(second > 0)) return 0;
  const bool similar = first < 4 * second && second < 4 * first;
  Real square = 0;
  for (const Deviations& r : terms) {
    Real rest = r.difference - along / second * r.second;
    if (!similar) rest = first < second ? r.first - inner / second * r.second : r.second - inner / first * r.first;
    square += rest * rest;
  }
  return (similar ? second : std::max(first, second)) / (geometric_mean(first, second) + inner) * square;
}

ActivationOutput activate(const Recipe& recipe, const Dual& dual, const ActivationInput& input) {
  const GaussianPair<Real>& pair = input.pair;
  const bool random = pair.q1 > 0 && pair.q2 > 0;
  if (dual.function >= 0 && random) {
    const QuadratureDual found = quadrature_dual(recipe, dual, pair, input.excess);
    const Real far = 2 * geometric_mean(input.square1, input.square2) - found.apart;
    const bool positive = found.value.sigma >= 0;
    return {found.value, positive ? found.apart : far, positive ? far : found.apart, found.excess};
  }
  const DualValue<Real> value = dual_value(recipe, dual, pair);
  const GaussianPair<Real> images(input.square1, input.square2, value.sigma);
  ActivationOutput output{value, images.minus, images.plus, input.square1 - input.square2};
  if (!random) return output;
  const Deviations r = deviations_of(pair.q1, pair.q2, input.excess);
  const Real half_distance = pair.minus + r.difference * r.difference / 2;
  switch (dual.phi) {
    case Phi::identity:
      rectify(1, input, output);
      break;
    case Phi::relu:
      rectify(0, input, output);
      break;
    case Phi::abs:
      rectify(-1, input, output);
      break;
    case Phi::leaky_relu:
      rectify(dual.parameter, input, output);
      break;
    case Phi::sign:
      output.minus = 2 * pair.angle() / pi;
      output.plus = 2 * pair.opening() / pi;
      break;
    case Phi::exp:  // RR' = e^{q1+q2}
      output.minus = value.sigma * std::expm1(half_distance);
      output.excess = std::exp(2 * pair.q2) * std::expm1(2 * input.excess);
      break;
    case Phi::rbf:  // RR' = 1
      output.minus = -std::expm1(-2 * static_cast<Real>(dual.parameter) * half_distance);
      break;
    default:
      if (dual.phi == Phi::rectified_monomial && dual.degree == 0) {  // RR' = 1/2
        output.minus = pair.angle() / (2 * pi);
      } else {
        pass_smooth(recipe, dual, input, output);
      }
      break;
  }
  return output;
}

}  // namespace widelimit::reference
