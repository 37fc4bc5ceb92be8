#pragma once

#include "widelimit/recipe/recipe.hpp"

#include <vector>

namespace widelimit::cpu {

/// Mehler's series: for u = s·z, φ(s·z) = Σ_k a_k(s)·h_k(z) in normalised Hermite polynomials, and
///   E[φ(u)φ(v)]   = Σ_k a_k(s)a_k(s')ρᵏ,
///   E[φ'(u)φ'(v)] = Σ_k k·a_k(s)a_k(s')ρᵏ⁻¹/(ss')      (Price: no φ' is needed where φ is continuous).
/// A dual thus costs one row of coefficients for each place, and a short polynomial for each pair.
///
/// By Cauchy and Schwarz, terms from N on are worth |ρ|ᴺ·√(rest·rest') at most, where rest is what the squares of the
/// first N leave of E[φ²], itself an integral in one variable; the same for φ'. So it is known for each pair how many
/// terms it takes, and whether the series has them.
struct HermiteSeries {
  std::vector<double> coefficients;  ///< a_k(s)/√E[φ²]
  std::vector<double> slopes;  ///< s·b_k(s)/√E[φ²], φ'(s·z) = Σ b_k h_k(z); empty where Price's theorem serves
  long double square = 0;      ///< E[φ²]
  long double slope_square = 0;  ///< E[φ'²]
  int enough = 0;                ///< terms for pairs of this place with such as need no more of them
  int plenty = 0;                ///< terms for pairs with any place
  /// Roots of the shares of E[φ²] and E[φ'²] in the terms from most_terms on; 0 where `plenty` terms are there.
  double rest = 0.0;
  double slope_rest = 0.0;
  /// The same from most_own_terms on; huge where there are not as many.
  double long_rest = 1e140;
  double long_slope_rest = 1e140;
  double stretch = 0.0;  ///< how fast φ(s·z)/√E[φ²] moves with log s, squared
  /// What the integrals leave, and what errors of s become. [recipe/quadrature/gaussian_sample.hpp]
  double error = 0.0;
  double slope_error = 0.0;
  double growth = 0.0;
  double slope_growth = 0.0;
};

/// Terms kept at most for functions without a finite series: where `most_terms` are not enough, the logistic functions
/// have their mixture, and others get `most_own_terms`.                                                  [Rests in
/// strip.hpp]
constexpr int most_terms = 256;
constexpr int most_own_terms = 1024;

/// True where the dual of φ is evaluated by its series.
[[nodiscard]] bool has_series(Phi phi);
/// Coefficients in the longest series of this φ.
[[nodiscard]] int series_length(const Dual& dual);
/// True where the derivative has a series of its own: φ may jump.
[[nodiscard]] bool has_slope_series(const Dual& dual);

/// monomial, polynomial: exact; functions without closed form: by integrals that resolve them. `tolerance` is relative.
[[nodiscard]] HermiteSeries hermite_series(const Recipe& recipe, const Dual& dual, long double deviation,
                                           double tolerance);

}  // namespace widelimit::cpu
