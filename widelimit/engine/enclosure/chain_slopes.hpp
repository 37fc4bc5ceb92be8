#pragma once

#include "widelimit/engine/enclosure/chain_entry.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <numbers>

/// Kernel entries of chains with their slopes, in plain floating point: the gradients used by attacks.
namespace widelimit {

inline constexpr double largest_cosine = 1 - 1e-9;  ///< slopes are clamped at this cosine

/// A number with its derivatives with respect to q = ‖x‖²/d and c = ⟨x,xᵢ⟩/d.
template <std::floating_point T>
struct Sloped {
  T value = 0, by_q = 0, by_c = 0;
};

namespace enclosure {

template <std::floating_point T>
WIDELIMIT_BOTH inline T inverse_or_zero(T value) {
  return value > 0 ? 1 / value : 0;
}
template <std::floating_point T>
WIDELIMIT_BOTH inline Sloped<T> times(T factor, const Sloped<T>& a) {
  return {factor * a.value, factor * a.by_q, factor * a.by_c};
}

/// State of one pair: variances (the first with its derivative by q), covariance and tangent kernel.
template <std::floating_point T>
struct SlopedPair {
  T first = 0, first_by_q = 1, second = 0;
  Sloped<T> sigma, theta;
};

template <std::floating_point T>
WIDELIMIT_BOTH inline void pass_affine(const ChainStep& layer, SlopedPair<T>& pair) {
  const T w = static_cast<T>(layer.w_std) * layer.w_std, b = static_cast<T>(layer.b_std) * layer.b_std;
  pair.first = w * pair.first + b;
  pair.first_by_q *= w;
  pair.second = w * pair.second + b;
  pair.sigma = times(w, pair.sigma);
  pair.sigma.value += b;
  pair.theta = times(w, pair.theta);
  if (layer.trained == 0) return;
  pair.theta = {pair.theta.value + pair.sigma.value, pair.theta.by_q + pair.sigma.by_q,
                pair.theta.by_c + pair.sigma.by_c};
}

/// S = E[φφ] = s·c + h·r·κ₁(ρ) has ∂S/∂c = D = E[φ'φ'] = s + h·κ₀(ρ) and ∂S/∂r = h√(1−ρ²)/π, with r = √(q₁q₂), h =
/// ½(1−s)², and dD/dρ = h/(π√(1−ρ²)).                                                     [docs/theory/duals.md]
template <std::floating_point T>
WIDELIMIT_BOTH inline void pass_rectifier(const ChainStep& layer, SlopedPair<T>& pair) {
  const T slope = layer.slope, r = std::sqrt(pair.first * pair.second), cosine = largest_cosine;
  const T rho = std::clamp(pair.sigma.value * inverse_or_zero(r), -cosine, cosine);
  const T root = std::sqrt((1 - rho) * (1 + rho)), opening = std::acos(-rho);
  const T bend = (1 - slope) * (1 - slope) / 2 / std::numbers::pi_v<T>;
  const T growth = pair.first_by_q * inverse_or_zero(pair.first) / 2;  // ∂(log r)/∂q
  const T value = r * (slope * rho + bend * (root + opening * rho)), derivative = slope + bend * opening;
  const Sloped<T> dot{derivative, bend / root * (pair.sigma.by_q * inverse_or_zero(r) - rho * growth),
                      bend / root * pair.sigma.by_c * inverse_or_zero(r)};
  pair.sigma = {value, derivative * pair.sigma.by_q + bend * root * r * growth, derivative * pair.sigma.by_c};
  pair.theta = {dot.value * pair.theta.value, dot.value * pair.theta.by_q + dot.by_q * pair.theta.value,
                dot.value * pair.theta.by_c + dot.by_c * pair.theta.value};
  const T power = (1 + slope * slope) / 2;
  pair.first *= power;
  pair.first_by_q *= power;
  pair.second *= power;
}

}  // namespace enclosure

/// Returns an entry from ‖x‖, ‖xᵢ‖ and ⟨x, xᵢ⟩, with biases in any layer.
template <std::floating_point T>
[[nodiscard]] WIDELIMIT_BOTH inline Sloped<T> sloped_entry(const ChainView& chain, T norm, T other, T inner) {
  const T features = chain.features;
  enclosure::SlopedPair<T> pair;
  pair.first = norm * norm / features;
  pair.second = other * other / features;
  pair.sigma = {inner / features, 0, 1};
  for (int k = 0; k < chain.depth; ++k) {
    const ChainStep& layer = chain.steps[k];
    layer.rectifier != 0 ? enclosure::pass_rectifier(layer, pair) : enclosure::pass_affine(layer, pair);
  }
  return chain.tangent != 0 ? pair.theta : pair.sigma;
}

}  // namespace widelimit
