#pragma once

#include "widelimit/recipe/step.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

/// Dual activations in closed form, one pair at a time, straight from the formulas: what the oracle uses for pairs and
/// every back end for variances.  With (u,v) centred Gaussian of variances q1, q2 and covariance c,
///   sigma = E[φ(u)φ(v)],  dot = E[φ'(u)φ'(v)].                                          [docs/theory/duals.md]
/// No formula divides by a variance: a zero variance means u = 0 for sure, and gets the limit.
namespace widelimit {

template <typename T>
struct DualValue {
  T sigma;
  T dot;
};

/// ρ = c/√(q1·q2), clamped: for equal inputs rounding leaves [−1, 1] by an ulp. 0 where a variance is 0. One root of
/// the product, not two: √(q·q) is q to the last bit, so that a sample's correlation with itself is exactly 1.
template <typename T>
T correlation(T q1, T q2, T c) {
  const T scale = std::sqrt(q1 * q2);
  return scale > 0 ? std::clamp(c / scale, T(-1), T(1)) : T(0);
}

/// φ(x) = slope·min(x,0) + max(x,0) = slope·x + (1−slope)·relu(x); relu: slope 0, abs: slope −1.
///   E[φφ] = s·c + (1−s)²·√(q1q2)·κ₁(ρ)/2,  E[φ'φ'] = s + (1−s)²·κ₀(ρ)/2.
template <typename T>
DualValue<T> rectifier_dual(T slope, T q1, T q2, T c) {
  const T rho = correlation(q1, q2, c);
  const T pi = std::numbers::pi_v<T>;
  const T angle = std::acos(rho);
  const T kappa0 = (pi - angle) / pi;
  const T kappa1 = (std::sqrt((1 - rho) * (1 + rho)) + (pi - angle) * rho) / pi;
  const T half = (1 - slope) * (1 - slope) / 2;
  return {slope * c + half * std::sqrt(q1) * std::sqrt(q2) * kappa1, slope + half * kappa0};
}

/// E[erf erf] = (2/π)·asin(2c/√((1+2q1)(1+2q2))),  E[φ'φ'] = (4/π)/√((1+2q1)(1+2q2) − 4c²).
template <typename T>
DualValue<T> erf_dual(T q1, T q2, T c) {
  const T pi = std::numbers::pi_v<T>;
  const T scale = std::sqrt(1 + 2 * q1) * std::sqrt(1 + 2 * q2);
  const T argument = std::clamp(2 * c / scale, T(-1), T(1));
  // Scaled before squaring: (1+2q1)(1+2q2) − 4c² = scale²·(1 − argument²).
  const T root = std::sqrt((1 - argument) * (1 + argument));
  return {2 / pi * std::asin(argument), root > 0 ? 4 / (pi * scale * root) : T(0)};
}

/// With E[ΦΦ] = 1/4 + asin(c/√((1+q1)(1+q2)))/2π and E[ϕϕ] = 1/(2π√d), d = (1+q1)(1+q2) − c², Gaussian integration
/// by parts gives
///   E[φφ]   = c·E[ΦΦ] + (q1q2 − c² + c²/(1+q1) + c²/(1+q2))·E[ϕϕ]
///   E[φ'φ'] = E[ΦΦ] + c·(1/(1+q1) + 1/(1+q2) + 1/d)·E[ϕϕ].
template <typename T>
DualValue<T> gelu_dual(T q1, T q2, T c) {
  const T pi = std::numbers::pi_v<T>;
  const T s1 = 1 + q1;
  const T s2 = 1 + q2;
  const T determinant = s1 * s2 - c * c;
  const T distribution = T(0.25) + std::asin(std::clamp(c / (std::sqrt(s1) * std::sqrt(s2)), T(-1), T(1))) / (2 * pi);
  const T density = 1 / (2 * pi * std::sqrt(determinant));
  return {c * distribution + (q1 * q2 - c * c + c * c / s1 + c * c / s2) * density,
          distribution + c * (1 / s1 + 1 / s2 + 1 / determinant) * density};
}

/// E[sin sin] = e^{−(q1+q2)/2}·sinh c, E[cos cos] = e^{−(q1+q2)/2}·cosh c; each is the other's derivative. The
/// exponents are combined first: e^{−(q1+q2)/2 ± c} never exceeds 1.
template <typename T>
DualValue<T> sin_dual(T q1, T q2, T c) {
  const T mean = (q1 + q2) / 2;
  const T minus = std::exp(c - mean);
  const T plus = std::exp(-c - mean);
  const T sinh = std::abs(c) < 1 ? std::exp(-mean) * std::sinh(c) : (minus - plus) / 2;
  return {sinh, (minus + plus) / 2};
}

template <typename T>
DualValue<T> cos_dual(T q1, T q2, T c) {
  const DualValue<T> sin = sin_dual(q1, q2, c);
  return {sin.dot, sin.sigma};
}

/// E[sign sign] = (2/π)·asin ρ. φ' = 0 almost everywhere, and a network of signs trains its last layer only.
template <typename T>
DualValue<T> sign_dual(T q1, T q2, T c) {
  return {2 / std::numbers::pi_v<T> * std::asin(correlation(q1, q2, c)), T(0)};
}

/// E[e^u e^v] = e^{(q1+q2)/2 + c}, its own derivative.
template <typename T>
DualValue<T> exp_dual(T q1, T q2, T c) {
  const T value = std::exp((q1 + q2) / 2 + c);
  return {value, value};
}

/// φ = e^{−x²}: E[φφ] = 1/√d, E[φ'φ'] = 4c/d^{3/2}, d = (1+2q1)(1+2q2) − 4c².
template <typename T>
DualValue<T> gaussian_dual(T q1, T q2, T c) {
  const T determinant = (1 + 2 * q1) * (1 + 2 * q2) - 4 * c * c;
  const T value = 1 / std::sqrt(determinant);
  return {value, 4 * c * value / determinant};
}

/// φ = √2·sin(√(2γ)x + π/4): E[φφ] = e^{−γ(q1+q2−2c)}, E[φ'φ'] = 2γ·E[φφ].
template <typename T>
DualValue<T> rbf_dual(T gamma, T q1, T q2, T c) {
  const T value = std::exp(-gamma * (q1 + q2 - 2 * c));
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
