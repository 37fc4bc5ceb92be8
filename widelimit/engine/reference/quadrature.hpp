#pragma once

#include "widelimit/engine/quadrature_error.hpp"
#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/recipe.hpp"

namespace widelimit::reference {

/// Duals without closed form by the definition, pair by pair. [recipe/quadrature/pair_mean.hpp]
[[nodiscard]] DualValue<long double> quadrature_dual(const Recipe& recipe, const Dual& dual, long double q1,
                                                     long double q2, long double c);

/// What quadrature leaves of a dual at one variance, and what the dual makes of errors that it receives.
[[nodiscard]] DualError dual_error(const Recipe& recipe, const Dual& dual, long double q);

}  // namespace widelimit::reference
