#pragma once

#include "widelimit/base/types.hpp"

#include <span>

namespace widelimit::host {

/// Adds by·column to the unevaluated sum high + low: products are exact, and additions accumulate their rounding
/// errors, as in Dot2 of Ogita, Rump and Oishi (2005). After m columns the error is at most γ_m² Σ|by·column|. About
/// ten operations per entry.
void accumulate(const float* column, double by, double* high, double* low, Index size);
void accumulate(const double* column, double by, double* high, double* low, Index size);

/// The same for by[0]·columns[0], by[1]·columns[1], …, bit-identical to adding one after the other, but with high and
/// low kept in registers for a few columns at a time.
void accumulate(std::span<const float* const> columns, const double* by, double* high, double* low, Index size);
void accumulate(std::span<const double* const> columns, const double* by, double* high, double* low, Index size);

}  // namespace widelimit::host
