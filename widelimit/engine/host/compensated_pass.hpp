#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit::host {

/// high + low += by·column, where high + low is an unevaluated sum: products are exact and additions carry what they
/// round off, as in Dot2 of Ogita, Rump and Oishi (2005). After m columns high + low is right to γ_m² Σ|by·column|.
/// About ten operations an entry.
void accumulate(const float* column, double by, double* high, double* low, Index size);
void accumulate(const double* column, double by, double* high, double* low, Index size);

}  // namespace widelimit::host
