#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/machine/factor/cholesky.hpp"

#include <concepts>

namespace widelimit {

/// The upper triangle of A, rounded to T; returns ‖A‖₁.  O(n²). `progress` may stop it.
template <std::floating_point T>
double fill_upper(const RidgeMatrix& a, MatrixView<T> out, int threads, Progress* progress = nullptr);

}  // namespace widelimit
