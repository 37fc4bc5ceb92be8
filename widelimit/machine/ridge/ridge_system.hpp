#pragma once

#include "widelimit/machine/factor/cholesky.hpp"
#include "widelimit/machine/fit.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// √w; at λ = 0 every sample is interpolated exactly, whatever its weight, so there it is 1.
[[nodiscard]] std::vector<double> scale_of_weights(std::span<const double> weights, double lambda);

/// S y, and behind it S 1 where a bias is wanted: the right sides of A = S K S + λ/2·I.
[[nodiscard]] Matrix<double> right_hand_sides(MatrixView<const double> targets, std::span<const double> scale,
                                              bool bias);

/// α = S(γ₁ − bγ₂), b = 1ᵀSγ₁/1ᵀSγ₂ with Aγ₁ = Sy, Aγ₂ = S1, which eliminates the border of [A S1; 1ᵀS 0];
/// b = 0 and no γ₂ without a bias.
void set_coefficients(const Matrix<double>& solved, std::span<const double> scale, bool bias, Fit& fit);

/// A machine of zeros.
[[nodiscard]] Fit zero_fit(Index samples, Index outputs);

[[nodiscard]] bool all_finite(const Fit& fit);

}  // namespace widelimit
