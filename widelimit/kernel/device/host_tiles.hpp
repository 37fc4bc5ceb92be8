#pragma once

#include "widelimit/kernel/traverse.hpp"

#include <concepts>
#include <span>

namespace widelimit {

/// A Gram matrix that the memory of the engine does not hold, tile by tile into matrices of the host, one for each
/// output: threads of the host fetch finished tiles while the engine computes the next. Samples that do not fit are
/// loaded in panels. Bits are those of the matrix filled at once. The largest error of quadrature that a sample meets.
template <std::floating_point T>
double fill_host_by_tiles(const GramTask& task, const Engine& engine, std::span<const MatrixView<T>> outputs,
                          Progress* progress);

}  // namespace widelimit
