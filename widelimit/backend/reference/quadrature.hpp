#pragma once

#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/recipe.hpp"

namespace widelimit::reference {

/// Duals without closed form by the definition: a tensor Gauss–Hermite rule over (z, z'), u = √q1·z,
/// v = √q2·(ρz + √(1−ρ²)z'). A user's function has no φ', so a five-point difference stands in for it.
[[nodiscard]] DualValue<long double> quadrature_dual(const Recipe& recipe, const Dual& dual, long double q1,
                                                     long double q2, long double c);

}  // namespace widelimit::reference
