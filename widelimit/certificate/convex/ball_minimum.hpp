#pragma once

#include "widelimit/base/matrix.hpp"

#include <span>

namespace widelimit {

/// A number below ⟨g, v⟩ + vᵀBv for all ‖v‖ ≤ length ≤ 1, rounding counted in; B is symmetric.
///
/// For any μ ≥ 0 that makes B + μI positive definite, ⟨g, v⟩ + vᵀBv ≥ min_v(⟨g, v⟩ + vᵀ(B + μI)v) − μ·length², which
/// grows to the minimum itself at the best μ. That B + μI is positive definite is proved by a Cholesky factor of a
/// smaller matrix, by more than what rounding can hide.  O(n³/3) for each μ tried, about ten.
[[nodiscard]] double ball_minimum(std::span<const double> g, MatrixView<const double> b, double length = 1);

}  // namespace widelimit
