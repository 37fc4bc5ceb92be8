#pragma once

#include "widelimit/engine/enclosure/arccos.hpp"

#include <cmath>

/// Scalar functions of the steps, compiled for the device and, in tests, for the host: the formulas of the CPU strips.
/// [widelimit/engine/cpu/vector/strip-inl.hpp]
namespace widelimit::cuda {

using host::arccos_polynomial;
using host::bend_polynomial;
using host::Coefficients;

/// Returns √t; on a device, float has an error of up to one ulp, no more than the polynomials used with it.
template <typename T>
WIDELIMIT_BOTH inline T root_of(T t) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == sizeof(float)) {
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(t));
    return root;
  }
#endif
  return std::sqrt(t);
}

/// Returns arccos(1 − t) for t in [0, 1].
template <typename T>
WIDELIMIT_BOTH inline T arccos_of(T t) {
  return std::sqrt(t) * arccos_polynomial(t);
}

template <typename T>
WIDELIMIT_BOTH inline T least(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
WIDELIMIT_BOTH inline T most(T a, T b) {
  return a < b ? b : a;
}

/// Returns ½((a−a')² + (c−c')²) = 1 − aa' − cc' if a² + c² = 1 on both sides, without cancellation.
template <typename T>
WIDELIMIT_BOTH inline T mismatch(T a, T a_col, T c, T c_col) {
  const T da = a - a_col;
  const T dc = c - c_col;
  return T(0.5) * std::fma(da, da, dc * dc);
}

/// 1 − ρ and 1 + ρ.
template <typename T>
WIDELIMIT_BOTH inline T one_minus(T rho, T t) {
  return rho >= 0 ? t : T(2) - t;
}
template <typename T>
WIDELIMIT_BOTH inline T one_plus(T rho, T t) {
  return rho >= 0 ? T(2) - t : t;
}

/// A pair after a step: ρ, t, and the factor of θ.
template <typename T>
struct Moved {
  T rho;
  T t;
  T factor;
};

/// Clamps ρ to [−1, 1]; sets 1 − |ρ| below the rounding error to 0, so that equal inputs remain equal.
template <typename T>
WIDELIMIT_BOTH inline Moved<T> correlation(T rho, T factor) {
  const T rest = T(1) - std::abs(rho);
  const T unit = sizeof(T) == sizeof(float) ? T(0x1p-20) : T(0x1p-49);
  return rest < unit ? Moved<T>{std::copysign(T(1), rho), T(0), factor} : Moved<T>{rho, rest, factor};
}

/// B·(√(1−ρ²) − |ρ|·arccos|ρ|)/π and B·arccos|ρ|/π.
template <typename T>
struct Bent {
  T value;
  T angle;
};
template <typename T>
WIDELIMIT_BOTH inline Bent<T> bent_by(T b, T t) {
  const T over_pi = b * T(0.318309886183790671537767526745028724);
  const T root = root_of(t);
  return {root * t * over_pi * bend_polynomial(t), root * over_pi * arccos_polynomial(t)};
}

/// ρ ← Aρ + Bκ₁(ρ), θ ← θ·(A + Bκ₀(ρ)).                                   [widelimit/engine/cpu/vector/rectifier.cpp]
template <typename T>
WIDELIMIT_BOTH inline Moved<T> rectifier_above(T a, T b, T t) {  ///< for ρ ≥ 0
  const auto [bent, angle] = bent_by(b, t);
  return {(T(1) - t) + bent, most(T(0), t - bent), a + (b - angle)};
}
template <typename T>
WIDELIMIT_BOTH inline Moved<T> rectifier(T a, T b, T rho, T t) {
  const auto [bent, angle] = bent_by(b, t);
  const T absolute = T(1) - t;
  if (rho >= 0) return {absolute + bent, most(T(0), t - bent), a + (b - angle)};
  const T next = std::fma(-a, absolute, bent);
  const T tilt = std::fma(a, t, bent);
  const T rest = next >= 0 ? (T(1) + a) - tilt : (T(1) - a) + tilt;
  return {next, most(T(0), rest), a + angle};
}

/// Returns aa'ρ + cc'σ for given 1 ∓ σ: 1 ∓ ρ_new = δ + aa'(1 ∓ ρ) + cc'(1 ∓ σ), a sum of nonnegative terms.
template <typename T>
WIDELIMIT_BOTH inline Moved<T> mix(T delta, T aa, T cc, T rho, T t, T minus, T plus) {
  const T below = std::fma(aa, one_minus(rho, t), std::fma(cc, minus, delta));
  const T above = std::fma(aa, one_plus(rho, t), std::fma(cc, plus, delta));
  const T rest = least(T(1), least(below, above));
  return {below <= above ? T(1) - rest : rest - T(1), rest, aa};
}

}  // namespace widelimit::cuda
