#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/enclosure/scaled.hpp"

#include <span>
#include <vector>

/// Powers of two by which a problem is brought to the middle of float64's range. Products with them are exact, so that
/// a bound of the scaled problem is one of the problem itself, and squares neither overflow nor vanish.
/// [docs/theory/certificates-proof.md#underflow]
namespace widelimit {

/// The exponent of each row's largest modulus, or of `beside` where that is larger.
[[nodiscard]] std::vector<int> row_exponents(MatrixView<const double> rows, double beside = 0);
/// to = from·2^−exponent, entry by entry; what underflows is off by 2⁻¹⁰⁷⁵ at most.
void scale_down(std::span<const double> from, int exponent, double* to);

/// The number nearest to x whose 2^exponent-fold is one of float64.
[[nodiscard]] double representable(double x, int exponent);
/// r·2^exponent, rounded down; the largest number where that overflows.
[[nodiscard]] double unscaled_radius(double r, int exponent);

/// More than underflow can take from a bound of a scaled problem. Operations lose 2⁻¹⁰²² each, squares under a root
/// 2⁻⁵¹¹, and no factor that follows is larger than 2²⁵⁰; what a bound loses to rounding is never less than 2⁻¹²⁰.
inline constexpr double underflow_allowance = 0x1p-200;
/// Range of radii of scaled problems: smaller radii are replaced by the first, larger ones are not certified.
inline constexpr double least_radius = 0x1p-250, largest_radius = 0x1p+200;

/// A bound of the scaled problem as one of the problem itself, f = 2^exponent·(scaled f). Its sign is what counts, and
/// it stays where the number itself underflows or overflows.
[[nodiscard]] double unscaled_bound(double bound, int exponent);

}  // namespace widelimit
