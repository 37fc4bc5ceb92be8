#pragma once

#include "widelimit/recipe/recipe.hpp"

#include <vector>

namespace widelimit::cpu {

/// Mehler's series: for u = s·z, φ(s·z) = Σ_k a_k(s)·h_k(z) in normalised Hermite polynomials, and
///   E[φ(u)φ(v)]   = Σ_k a_k(s)a_k(s')ρᵏ,
///   E[φ'(u)φ'(v)] = Σ_k k·a_k(s)a_k(s')ρᵏ⁻¹/(ss')      (Price: φ' is not needed if φ is continuous).
/// A dual thus costs one row of coefficients per place, and a short polynomial per pair.
///
/// By the Cauchy–Schwarz inequality, the terms from N on sum to at most |ρ|ᴺ·√(rest·rest'), where rest is E[φ²] minus
/// the squares of the first N coefficients, and E[φ²] is a one-dimensional integral; the same holds for φ'. This gives
/// the number of terms that each pair needs, and whether the series has them.
struct HermiteSeries {
  std::vector<double> coefficients;  ///< a_k(s)/√E[φ²]
  std::vector<double> slopes;    ///< s·b_k(s)/√E[φ²], φ'(s·z) = Σ b_k h_k(z); empty if Price's theorem applies
  long double square = 0;        ///< E[φ²]
  long double slope_square = 0;  ///< E[φ'²]
  int sufficient_terms = 0;      ///< number of terms for pairs with places that need no more
  int maximal_terms = 0;         ///< number of terms for pairs with any place
  /// Square roots of the shares of E[φ²] and E[φ'²] in the terms from most_terms on; 0 if `maximal_terms` terms are
  /// stored.
  double rest = 0.0;
  double slope_rest = 0.0;
  /// The same from most_own_terms on; huge if the series is shorter.
  double long_rest = 1e140;
  double long_slope_rest = 1e140;
  double stretch = 0.0;  ///< squared sensitivity of φ(s·z)/√E[φ²] to log s
  /// Quadrature errors, and amplification of errors of s. [recipe/quadrature/gaussian_sample.hpp]
  double error = 0.0;
  double slope_error = 0.0;
  double growth = 0.0;
  double slope_growth = 0.0;
};

/// Maximum number of terms for functions without a finite series: if `most_terms` do not suffice, logistic functions
/// use their mixture, and others use `most_own_terms` (SeriesRemainders in strip.hpp).
constexpr int most_terms = 256;
constexpr int most_own_terms = 1024;

/// Returns true if the dual of φ is evaluated by its series.
[[nodiscard]] bool has_series(Phi phi);
/// Returns the maximum number of coefficients for this φ.
[[nodiscard]] int series_length(const Dual& dual);
/// Returns true if the derivative has its own series, because φ may be discontinuous.
[[nodiscard]] bool has_slope_series(const Dual& dual);

/// Exact for monomial and polynomial; by quadrature for functions without closed form. `tolerance` is relative.
[[nodiscard]] HermiteSeries hermite_series(const Recipe& recipe, const Dual& dual, long double deviation,
                                           double tolerance);

}  // namespace widelimit::cpu
