#pragma once

#include "widelimit/engine/quadrature_error.hpp"
#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/recipe.hpp"

namespace widelimit::reference {

/// Returns E[φ(u)φ(v)] and E[φ'(u)φ'(v)] for any φ of a recipe.
[[nodiscard]] DualValue<long double> dual_value(const Recipe& recipe, const Dual& dual,
                                                const GaussianPair<long double>& pair);

/// Dual of a pair, for φ without closed form.
struct QuadratureDual {
  DualValue<long double> value;
  long double apart = 0;   ///< RR'(1 − |ρ_new|), R² = E[φ(u)²]
  long double excess = 0;  ///< R² − R'²
};

/// Evaluates a dual without closed form by numerical integration. `excess` is q1 − q2.
/// [recipe/quadrature/pair_mean.hpp]
[[nodiscard]] QuadratureDual quadrature_dual(const Recipe& recipe, const Dual& dual,
                                             const GaussianPair<long double>& pair, long double excess);

/// Quadrature error of a dual at one variance, and its amplification of errors of its input.
[[nodiscard]] DualError dual_error(const Recipe& recipe, const Dual& dual, long double q);

}  // namespace widelimit::reference
