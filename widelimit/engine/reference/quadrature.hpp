#pragma once

#include "widelimit/engine/quadrature_error.hpp"
#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/recipe.hpp"

namespace widelimit::reference {

/// A dual without closed form, of a pair.
struct QuadratureDual {
  DualValue<long double> value;
  long double apart = 0;   ///< RR'(1 − |ρ_new|), R² = E[φ(u)²]
  long double excess = 0;  ///< R² − R'²
};

/// Duals without closed form by the definition, pair by pair. `excess` is q1 − q2. [recipe/quadrature/pair_mean.hpp]
[[nodiscard]] QuadratureDual quadrature_dual(const Recipe& recipe, const Dual& dual,
                                             const GaussianPair<long double>& pair, long double excess);

/// What quadrature leaves of a dual at one variance, and what the dual makes of errors that it receives.
[[nodiscard]] DualError dual_error(const Recipe& recipe, const Dual& dual, long double q);

}  // namespace widelimit::reference
