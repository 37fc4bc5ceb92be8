#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/engine.hpp"

#include <concepts>

namespace widelimit {

/// c = alpha·op(a)·op(b) + beta·c for matrices of the host, by the algebra of the engine: in place where it works in
/// host memory, else on copies. Where beta is 0, c is not read.  O(rows·cols·inner).
template <std::floating_point T>
void engine_product(const Engine& engine, double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b,
                    MatrixView<const T> b, double beta, MatrixView<T> c);

}  // namespace widelimit
