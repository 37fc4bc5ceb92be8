#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <concepts>

namespace widelimit::cpu {

/// c = alpha·op(a)·op(b) + beta·c, split along the longer side of c by size only, so that results do not depend on the
/// number of threads. Each thread reads its own part of the larger factor, so that a wide weight matrix passes through
/// the caches once.
template <std::floating_point T>
void cut_product(T alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, T beta,
                 MatrixView<T> c, int threads);

}  // namespace widelimit::cpu
