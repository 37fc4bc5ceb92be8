#pragma once

#include "widelimit/recipe/recipe.hpp"

#include <vector>

namespace widelimit::cpu {

/// Mehler's series: for u = s·z, φ(s·z) = Σ_k a_k(s)·h_k(z) in normalised Hermite polynomials, and
///   E[φ(u)φ(v)]   = Σ_k a_k(s)a_k(s')ρᵏ,
///   E[φ'(u)φ'(v)] = Σ_k k·a_k(s)a_k(s')ρᵏ⁻¹/(ss')      (Price: no φ' is needed).
/// A dual thus costs one row of coefficients for each place, and a short polynomial for each pair.
struct HermiteSeries {
  std::vector<long double> coefficients;  ///< a_k(s)
  /// Share of Σa_k² and of Σk·a_k² that the terms left out hold: the relative error at ρ = 1, an upper bound for all
  /// other ρ.
  double truncation = 0.0;
};

/// Terms kept for functions without a finite series, and nodes of the Gauss–Hermite rule that finds their a_k.
constexpr int series_terms = 192;
constexpr int series_nodes = 384;

/// True where the dual of φ is evaluated by its series.
[[nodiscard]] bool has_series(Phi phi);
/// Coefficients in the series of this φ.
[[nodiscard]] int series_length(const Dual& dual);

/// monomial, polynomial: exact; tanh, sigmoid, swish, softplus, custom: a_k by Gauss–Hermite quadrature.
[[nodiscard]] HermiteSeries hermite_series(const Recipe& recipe, const Dual& dual, long double deviation);

}  // namespace widelimit::cpu
