#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <concepts>

namespace widelimit::cpu {

/// c = alpha·op(a)·op(b) + beta·c, cut along the longer side of c by its size alone: the numbers are the same on any
/// number of threads. Each thread reads its own part of the larger factor, so that a wide matrix of weights passes
/// through the caches once.
template <std::floating_point T>
void cut_product(T alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, T beta,
                 MatrixView<T> c, int threads);

}  // namespace widelimit::cpu
