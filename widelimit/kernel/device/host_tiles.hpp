#pragma once

#include "widelimit/kernel/traverse.hpp"

#include <concepts>
#include <span>

namespace widelimit {

/// Computes a Gram matrix that does not fit into the memory of the engine tile by tile into host matrices, one per
/// output: host threads fetch finished tiles while the engine computes the next ones. Samples that do not fit are
/// loaded in panels. The result is bitwise equal to that of a matrix filled at once. Returns the largest quadrature
/// error of a sample.
template <std::floating_point T>
double fill_host_by_tiles(const GramTask& task, const Engine& engine, std::span<const MatrixView<T>> outputs,
                          Progress* progress);

}  // namespace widelimit
