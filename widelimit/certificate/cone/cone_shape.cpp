#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/engine/enclosure/interval.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

/// The shape of κ: convexity, minimum and tangent rays.

namespace widelimit {

namespace {

/// Enclosure of a function f of u on a subinterval of [−1, 0]: f, s·f' and s³·f'' with s = √(1−u²). The factors remove
/// the singularities at −1, where κ₀' = 1/(πs) and κ₀'' = u/(πs³).
struct EnclosedJet {
  Interval value, slope, curvature;
};

const Interval inverse_pi = outward(std::numbers::inv_pi, std::numbers::inv_pi);

/// κ₀(ρ(u)) by the chain rule; in the first layer, ρ = u, the factors cancel.
EnclosedJet angle_factor(const host::ConeLayer& layer, bool first, const EnclosedJet& rho, const Interval& s) {
  const Interval bend = outward(below(below(layer.bend)), above(above(layer.bend)));
  const Interval linear = outward(below(below(layer.linear)), above(above(layer.linear)));
  const Interval value = linear + bend * kappa0(clamp(rho.value, -1, 1));
  const Interval scale = bend * inverse_pi;
  if (first) return {value, scale, scale * rho.value};
  const Interval one = Interval::of(1);
  const Interval square = (one - rho.value) * (one + rho.value);
  const Interval steep = scale / sqrt(square);
  const Interval steep_curvature = steep * rho.value / square;
  return {value, steep * rho.slope, steep_curvature * s * rho.slope * rho.slope + steep * rho.curvature};
}

/// Returns a lower bound of s³·κ'' on a subinterval of [−1, 0].
double least_curvature(const host::ConeChain& chain, const Interval& u) {
  const Interval one = Interval::of(1);
  const Interval s = sqrt((one - u) * (one + u));
  EnclosedJet rho{u, s, Interval::of(0)};
  const Interval start = Interval::of(chain.trained);
  EnclosedJet theta{start * u, start * s, Interval::of(0)};
  bool first = true;
  for (const host::ConeLayer& layer : chain.layers) {
    const EnclosedJet factor = angle_factor(layer, first, rho, s);
    const Interval bend = outward(below(below(layer.bend)), above(above(layer.bend)));
    const Interval linear = outward(below(below(layer.linear)), above(above(layer.linear)));
    const EnclosedJet next{clamp(linear * rho.value + bend * kappa1(clamp(rho.value, -1, 1)), -1, 1),
                           factor.value * rho.slope, s * factor.slope * rho.slope + factor.value * rho.curvature};
    const Interval trained = Interval::of(layer.trained);
    theta = {theta.value * factor.value + trained * next.value,
             theta.slope * factor.value + theta.value * factor.slope + trained * next.slope,
             theta.curvature * factor.value + Interval::of(2) * s * theta.slope * factor.slope +
                 theta.value * factor.curvature + trained * next.curvature};
    rho = next;
    first = false;
  }
  return theta.curvature.low;
}

/// Bisects an interval until convexity is proved on every part; returns false if a part becomes too small.
bool proved_convex(const host::ConeChain& chain, const Interval& u) {
  constexpr double finest = 0x1p-12;
  if (least_curvature(chain, u) >= 0) return true;
  if (!(u.width() > finest)) return false;
  const double middle = (u.low + u.high) / 2;
  return proved_convex(chain, {u.low, middle}) && proved_convex(chain, {middle, u.high});
}

/// Returns the place in [low, high] where f changes from negative to positive, or an endpoint.
template <typename F>
double sign_change(const F& f, double low, double high) {
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (f(middle) < 0 ? low : high) = middle;
  }
  return (low + high) / 2;
}

constexpr double shape_bracket = 0x1p-26;  // its square is at rounding level

/// Searches from `place` towards `end` in doubling steps for a u with sure(u); returns `end` if there is none.
template <typename F>
double confirmed(const F& sure, double place, double end) {
  for (double step = shape_bracket * std::min(1.0, 1 - std::abs(place)); step < 1; step *= 2) {
    const double u = end < place ? place - step : place + step;
    if (end < place ? u <= end : u >= end) break;
    if (sure(u)) return u;
  }
  return end;
}

}  // namespace

bool ConeKernel::bends() const {
  return std::any_of(layers_.begin(), layers_.end(), [](const host::ConeLayer& layer) { return layer.bend > 0; });
}

bool ConeKernel::convex_on(double low, double high) const {
  return low >= 0 || !tangent_ || !bends() || proved_convex(chain(), {low, std::min(high, 0.0)});
}

void ConeKernel::find_extremes() {
  if (!bends()) {  // κ is linear
    fall_end_ = growth_begin_ = lowest_ = -1;
    lowest_value_ = -largest_;
    ray_above_ = {.low = 1, .high = 1, .slope = largest_};
    ray_below_ = {.low = -1, .high = -1, .slope = largest_};
    return;
  }
  if (tangent_) {
    find_lowest();
    ray_above_ = supporting_ray(1);
    const SupportingRay mirrored = supporting_ray(-1);
    ray_below_ = {.low = -mirrored.high, .high = -mirrored.low, .slope = -mirrored.slope};
    return;
  }
  fall_end_ = growth_begin_ = lowest_ = -1;
  lowest_value_ = value(-1) - value_error_;
  // With G(u) = κ − uκ' of the NNGP, G_new = (a + bκ₀)·G + b·√(1−ρ²)/π ≥ 0: κ/u decreases on both sides of 0, and the
  // rays pass through the endpoints, with κ(1) = 1.
  ray_above_ = {.low = 1, .high = 1, .slope = 1};
  ray_below_ = {.low = -1, .high = -1, .slope = value_error_ - value(-1)};
}

double ConeKernel::slope_error_bound(double u) const {
  return slope_error_ * (1 + 1 / std::sqrt(std::max(1 - std::abs(u), host::least_rest)));
}

/// Between fall_end_ and growth_begin_, the tangent at growth_begin_ is below κ and not below this value.
void ConeKernel::find_lowest() {
  lowest_ = sign_change([this](double u) { return slope(u); }, -1, 0);
  fall_end_ = confirmed([this](double u) { return slope(u) < -slope_error_bound(u); }, lowest_, -1);
  growth_begin_ = confirmed([this](double u) { return slope(u) > slope_error_bound(u); }, lowest_, 0);
  const double rise = slope(growth_begin_) + slope_error_bound(growth_begin_);
  lowest_value_ = value(growth_begin_) - value_error_ - 2 * rise * (growth_begin_ - fall_end_);
}

/// Tangent ray of κ(sign·u) on (0, 1]. κ(u)/u has the derivative −G/u², where G = κ − uκ' decreases by convexity: the
/// ray touches at the zero of G, and its slope is bounded below by the tangent at a place `near` before it: κ(u)/u ≥
/// κ'(near) + G(near)/u.
SupportingRay ConeKernel::supporting_ray(double sign) const {
  const auto rise = [&](double u) { return sign * slope(sign * u); };
  const auto gap = [&](double u) { return value(sign * u) - u * rise(u); };
  const auto value_error_bound = [&](double u) { return value_error_ + slope_error_bound(u); };
  const double place = sign_change([&](double u) { return -gap(u); }, 0, 1);
  const double near = confirmed([&](double u) { return gap(u) > value_error_bound(u); }, place, 0x1p-10);
  const double far = confirmed([&](double u) { return gap(u) < -value_error_bound(u); }, place, 1);
  const double slack =
      slope_error_bound(near) + 2 * value_error_bound(near) / far + 8 * 0x1p-53 * (std::abs(rise(near)) + largest_);
  return {.low = near, .high = far, .slope = rise(near) + gap(near) / far - slack};
}

}  // namespace widelimit
