#pragma once

#include "widelimit/base/types.hpp"

#include <span>

namespace widelimit::host {

/// high + low += by·column, where high + low is an unevaluated sum: products are exact and additions carry what they
/// round off, as in Dot2 of Ogita, Rump and Oishi (2005). After m columns high + low is right to γ_m² Σ|by·column|.
/// About ten operations an entry.
void accumulate(const float* column, double by, double* high, double* low, Index size);
void accumulate(const double* column, double by, double* high, double* low, Index size);

/// The same for several columns, by[0]·columns[0], by[1]·columns[1], …, one after the other with equal bits, but with
/// high and low in registers for a few columns at a time.
void accumulate(std::span<const float* const> columns, const double* by, double* high, double* low, Index size);
void accumulate(std::span<const double* const> columns, const double* by, double* high, double* low, Index size);

}  // namespace widelimit::host
