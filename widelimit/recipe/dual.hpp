#pragma once

#include "widelimit/recipe/step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

/// Dual activations in closed form, for one pair at a time; used by the reference engine for pairs and by every back
/// end for variances. For (u,v) centred Gaussian with variances q1, q2 and covariance c,
///   sigma = E[φ(u)φ(v)],  dot = E[φ'(u)φ'(v)].                                          [docs/theory/duals.md]
/// No formula divides by a variance: for a zero variance, u = 0 almost surely, and the result is the limit. No formula
/// subtracts c from a value that it may equal: √(q1q2) ∓ c are part of the arguments.
namespace widelimit {

template <typename T>
struct DualValue {
  T sigma;
  T dot;
};

/// √(ab), exactly q for a = b = q, so that the correlation of a sample with itself is exactly 1. Uses two square roots
/// if the product under- or overflows.
template <typename T>
T geometric_mean(T a, T b) {
  if (a == b) return a;
  const T product = a * b;
  const bool inside = product >= std::numeric_limits<T>::min() && product <= std::numeric_limits<T>::max();
  return inside ? std::sqrt(product) : std::sqrt(a) * std::sqrt(b);
}

/// A centred Gaussian pair (u, v).
template <typename T>
struct GaussianPair {
  T q1, q2, c;    ///< E[u²], E[v²], E[uv]
  T minus, plus;  ///< √(q1q2) ∓ c = √(q1q2)·(1 ∓ ρ)

  /// Clamps √(q1q2) ∓ c at 0, since rounding may make |c| exceed √(q1q2) by an ulp.
  GaussianPair(T first, T second, T covariance)
      : GaussianPair(first, second, covariance, std::max(T(0), geometric_mean(first, second) - covariance),
                     std::max(T(0), geometric_mean(first, second) + covariance)) {}
  /// For callers that know √(q1q2) ∓ c to a higher accuracy than their difference has.
  GaussianPair(T first, T second, T covariance, T below, T above)
      : q1(first), q2(second), c(covariance), minus(below), plus(above) {}

  /// √(q1q2)·√(1−ρ²) = √(q1q2 − c²).
  [[nodiscard]] T root() const { return std::sqrt(minus) * std::sqrt(plus); }
  [[nodiscard]] T determinant() const { return minus * plus; }
  /// arccos ρ and π − arccos ρ, both to full relative accuracy; π/2 if a variance is 0.
  [[nodiscard]] T angle() const { return angle_to(c); }
  [[nodiscard]] T opening() const { return angle_to(-c); }
  /// E[(u − v)²]/2 = (q1 + q2)/2 − c, and the same for u + v.
  [[nodiscard]] T half_distance() const { return half_difference() + minus; }
  [[nodiscard]] T half_sum() const { return half_difference() + plus; }

 private:
  [[nodiscard]] T angle_to(T along) const {
    return q1 > 0 && q2 > 0 ? std::atan2(root(), along) : std::numbers::pi_v<T> / 2;
  }
  [[nodiscard]] T half_difference() const {
    const T difference = std::sqrt(q1) - std::sqrt(q2);
    return difference * difference / 2;
  }
};

/// φ(x) = slope·min(x,0) + max(x,0) = slope·x + (1−slope)·relu(x); relu: slope 0, abs: slope −1.
///   E[φφ] = s·c + (1−s)²·√(q1q2)·κ₁(ρ)/2,  E[φ'φ'] = s + (1−s)²·κ₀(ρ)/2.
template <typename T>
DualValue<T> rectifier_dual(T slope, const GaussianPair<T>& pair) {
  const T pi = std::numbers::pi_v<T>;
  const T half = (1 - slope) * (1 - slope) / 2;
  const T opening = pair.opening();
  return {slope * pair.c + half * (pair.root() + opening * pair.c) / pi, slope + half * opening / pi};
}

/// E[erf erf] = (2/π)·asin(2c/√((1+2q1)(1+2q2))),  E[φ'φ'] = (4/π)/√d,
/// d = (1+2q1)(1+2q2) − 4c² = 1 + 2q1 + 2q2 + 4(q1q2 − c²).
template <typename T>
DualValue<T> erf_dual(const GaussianPair<T>& pair) {
  const T pi = std::numbers::pi_v<T>;
  const T root = std::hypot(std::sqrt(1 + 2 * pair.q1 + 2 * pair.q2), 2 * pair.root());
  return {2 / pi * std::atan2(2 * pair.c, root), 4 / (pi * root)};
}

/// With E[ΦΦ] = 1/4 + asin(c/√((1+q1)(1+q2)))/2π and E[ϕϕ] = 1/(2π√d), d = (1+q1)(1+q2) − c², Gaussian integration
/// by parts gives
///   E[φφ]   = c·E[ΦΦ] + (q1q2 − c² + c²/(1+q1) + c²/(1+q2))·E[ϕϕ]
///   E[φ'φ'] = E[ΦΦ] + c·(1/(1+q1) + 1/(1+q2) + 1/d)·E[ϕϕ].
template <typename T>
DualValue<T> gelu_dual(const GaussianPair<T>& pair) {
  const T pi = std::numbers::pi_v<T>;
  const T c = pair.c;
  const T s1 = 1 + pair.q1;
  const T s2 = 1 + pair.q2;
  const T determinant = 1 + pair.q1 + pair.q2 + pair.determinant();
  const T root = std::sqrt(determinant);
  const T distribution = T(0.25) + std::atan2(c, root) / (2 * pi);
  const T density = 1 / (2 * pi * root);
  return {c * distribution + (pair.determinant() + c * c / s1 + c * c / s2) * density,
          distribution + c * (1 / s1 + 1 / s2 + 1 / determinant) * density};
}

/// E[sin sin] = e^{−(q1+q2)/2}·sinh c, E[cos cos] = e^{−(q1+q2)/2}·cosh c; each is the derivative of the other. The
/// exponents are combined first: e^{−(q1+q2)/2 ± c} never exceeds 1.
template <typename T>
DualValue<T> sin_dual(const GaussianPair<T>& pair) {
  const T minus = std::exp(-pair.half_distance());
  const T plus = std::exp(-pair.half_sum());
  const T small = std::exp(-(pair.q1 + pair.q2) / 2) * std::sinh(std::clamp(pair.c, T(-1), T(1)));
  return {std::abs(pair.c) < 1 ? small : (minus - plus) / 2, (minus + plus) / 2};
}

template <typename T>
DualValue<T> cos_dual(const GaussianPair<T>& pair) {
  const DualValue<T> sin = sin_dual(pair);
  return {sin.dot, sin.sigma};
}

/// E[sign sign] = (2/π)·asin ρ. φ' = 0 almost everywhere, so only the last layer of a sign network is trained.
template <typename T>
DualValue<T> sign_dual(const GaussianPair<T>& pair) {
  return {2 / std::numbers::pi_v<T> * std::atan2(pair.c, pair.root()), T(0)};
}

/// E[e^u e^v] = e^{(q1+q2)/2 + c}, equal to its derivative.
template <typename T>
DualValue<T> exp_dual(const GaussianPair<T>& pair) {
  const T value = std::exp((pair.q1 + pair.q2) / 2 + pair.c);
  return {value, value};
}

/// φ = e^{−x²}: E[φφ] = 1/√d, E[φ'φ'] = 4c/d^{3/2}, d = (1+2q1)(1+2q2) − 4c².
template <typename T>
DualValue<T> gaussian_dual(const GaussianPair<T>& pair) {
  const T determinant = 1 + 2 * pair.q1 + 2 * pair.q2 + 4 * pair.determinant();
  const T value = 1 / std::sqrt(determinant);
  return {value, 4 * pair.c * value / determinant};
}

/// φ = √2·sin(√(2γ)x + π/4): E[φφ] = e^{−γ(q1+q2−2c)}, E[φ'φ'] = 2γ·E[φφ].
template <typename T>
DualValue<T> rbf_dual(T gamma, const GaussianPair<T>& pair) {
  const T value = std::exp(-2 * gamma * pair.half_distance());
  return {value, 2 * gamma * value};
}

/// Normalised Hermite polynomial with the kernel formula of unit-variance input: Σ ← Σᵈ.
template <typename T>
DualValue<T> hermite_dual(int degree, T c) {
  if (degree == 0) return {T(1), T(0)};
  const T power = std::pow(c, degree - 1);
  return {power * c, static_cast<T>(degree) * power};
}

}  // namespace widelimit
