#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/certificate/convex/expansion.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Σᵢ wᵢ(⟨yᵢ, z⟩ − uᵢν)² ≥ vᵀBv − error of an expansion, in v = (z_j/scale_j, ν/scale_ν), for |v_j| ≤ 1 or ‖v‖ ≤ 1.
struct QuadraticForm {
  Matrix<double> b;  ///< symmetric, features + 1
  double error = 0;
};

/// Squares that cannot change the bound by more than `negligible` in all are bounded one by one. The others are summed
/// in float32, runs of them in float64: O(samples·features²).
[[nodiscard]] QuadraticForm quadratic_form(const Expansion& expansion, MatrixView<const double> directions,
                                           std::span<const double> scale, bool euclidean, double negligible);

}  // namespace widelimit
