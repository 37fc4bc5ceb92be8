#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/enclosure/scaled.hpp"

#include <span>
#include <vector>

/// Scaling of a problem by powers of two to the middle of the float64 range. Products with them are exact, so that a
/// bound of the scaled problem is a bound of the problem itself, and squares neither overflow nor underflow.
/// [docs/theory/certificates-proof.md#underflow]
namespace widelimit {

/// Returns the exponent of each row's largest modulus, or of `beside` if that is larger.
[[nodiscard]] std::vector<int> row_exponents(MatrixView<const double> rows, double beside = 0);
/// Computes to = from·2^−exponent elementwise; the underflow error is at most 2⁻¹⁰⁷⁵.
void scale_down(std::span<const double> from, int exponent, double* to);

/// Returns the number nearest to x whose product with 2^exponent is representable in float64.
[[nodiscard]] double representable(double x, int exponent);
/// Returns r·2^exponent, rounded down; the largest finite number on overflow.
[[nodiscard]] double unscaled_radius(double r, int exponent);

/// Upper bound of the effect of underflow on a bound of a scaled problem. Operations lose 2⁻¹⁰²² each, squares under a
/// root 2⁻⁵¹¹, and later factors are at most 2²⁵⁰; the rounding allowance of a bound is at least 2⁻¹²⁰.
inline constexpr double underflow_allowance = 0x1p-200;
/// Range of radii of scaled problems: smaller radii are replaced by least_radius, larger ones are not certified.
inline constexpr double least_radius = 0x1p-250, largest_radius = 0x1p+200;

/// Converts a bound of the scaled problem to one of the original problem, f = 2^exponent·(scaled f). A positive sign is
/// preserved on underflow and overflow.
[[nodiscard]] double unscaled_bound(double bound, int exponent);

}  // namespace widelimit
