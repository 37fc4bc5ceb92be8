#pragma once

#include "widelimit/machine/factor/cholesky.hpp"
#include "widelimit/machine/fit.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace widelimit {

/// Returns √w; at λ = 0 positive weights give 1, since every sample is interpolated exactly.
[[nodiscard]] std::vector<double> scale_of_weights(std::span<const double> weights, double lambda);

/// Returns S y and, if `bias`, S 1 as last column: the right-hand sides for A = S K S + λ/2·I.
[[nodiscard]] Matrix<double> right_hand_sides(MatrixView<const double> targets, std::span<const double> scale,
                                              bool bias);

/// Sets α = S(γ₁ − bγ₂), b = 1ᵀSγ₁/1ᵀSγ₂ with Aγ₁ = Sy, Aγ₂ = S1, which eliminates the border of [A S1; 1ᵀS 0]; without
/// a bias b = 0 and there is no γ₂.
void set_coefficients(const Matrix<double>& solved, std::span<const double> scale, bool bias, Fit& fit);

/// Message of a log marginal likelihood, or its gradient, that is not finite.
inline constexpr std::string_view likelihood_overflow =
    "the log marginal likelihood exceeds the range of float64; divide the targets, or multiply kernel and noise, by a "
    "constant";

}  // namespace widelimit
