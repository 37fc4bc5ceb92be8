#pragma once

#include "widelimit/engine/cpu/vector/arccos_polynomials.hpp"
#include "widelimit/engine/enclosure/both.hpp"

#include <cmath>
#include <cstddef>

/// Polynomial approximation of arccos, elementwise, for host and device code.                [docs/theory/numerics.md]
namespace widelimit::host {

/// Holds coefficients by value, because device code cannot access static arrays.
template <typename T, std::size_t N>
struct Coefficients {
  T value[N];
};
template <typename T, std::size_t N>
constexpr Coefficients<T, N> coefficients(const T (&from)[N]) {
  Coefficients<T, N> result{};
  for (std::size_t k = 0; k < N; ++k) result.value[k] = from[k];
  return result;
}

/// Evaluates a polynomial with coefficients in ascending order.
template <typename T, std::size_t N>
WIDELIMIT_BOTH inline T horner(const Coefficients<T, N>& c, T x) {
  T value = c.value[N - 1];
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int k = static_cast<int>(N) - 2; k >= 0; --k) value = std::fma(value, x, c.value[k]);
  return value;
}

/// As horner, without forcing fma: std::fma is a library call on most processors. P and Q lose 1.5 units of rounding
/// either way, since their first coefficient dominates.
template <typename T, std::size_t N>
WIDELIMIT_BOTH inline T loose_horner(const Coefficients<T, N>& c, T x) {
  T value = c.value[N - 1];
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int k = static_cast<int>(N) - 2; k >= 0; --k) value = value * x + c.value[k];
  return value;
}

/// arccos(1 − t)/√t and (√(1−ρ²) − ρ·arccos ρ)/t^{3/2}, ρ = 1 − t.
template <typename T>
WIDELIMIT_BOTH inline T arccos_polynomial(T t) {
  constexpr auto p = coefficients(cpu::ArccosPolynomials<T>::p);
  return horner(p, t);
}
template <typename T>
WIDELIMIT_BOTH inline T bend_polynomial(T t) {
  constexpr auto q = coefficients(cpu::ArccosPolynomials<T>::q);
  return horner(q, t);
}

}  // namespace widelimit::host
