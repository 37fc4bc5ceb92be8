#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/machine/factor/cholesky.hpp"

#include <concepts>

namespace widelimit {

/// The upper triangle of A, rounded to T; returns ‖A‖₁.  O(n²). `progress` may stop it.
template <std::floating_point T>
double fill_upper(const RidgeMatrix& a, MatrixView<T> out, int threads, Progress* progress = nullptr);

/// A = UᵀU over the upper triangle of a square matrix without gaps; returns the order of the first leading minor that
/// is not positive, or 0. In blocks of rows, so that a person can stop it.
template <std::floating_point T>
Index factor_upper(MatrixView<T> a, Progress* progress);

/// Estimate of the condition number, from the factor and ‖A‖₁; infinity where it is beyond counting.  O(n²).
template <std::floating_point T>
double condition_of(MatrixView<T> factor, double norm);

/// b = U⁻ᵀb or U⁻¹b.
template <std::floating_point T>
void solve_upper(MatrixView<const T> factor, bool transposed, MatrixView<T> b);

}  // namespace widelimit
