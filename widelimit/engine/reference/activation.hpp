#pragma once

#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/recipe.hpp"

namespace widelimit::reference {

/// Returns E[φ(u)φ(v)] and E[φ'(u)φ'(v)] for any φ of a recipe.
[[nodiscard]] DualValue<long double> dual_value(const Recipe& recipe, const Dual& dual,
                                                const GaussianPair<long double>& pair);

}  // namespace widelimit::reference
