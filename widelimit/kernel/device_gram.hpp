#pragma once

#include "widelimit/kernel/traverse.hpp"

#include <concepts>
#include <span>

/// Gram matrices on an engine with its own memory: what fits into it, and what to do with a matrix that does not.
namespace widelimit {

/// Whether the matrices of all outputs and the samples fit into the memory of the engine; true if the engine uses host
/// memory.
[[nodiscard]] bool fits_engine(const GramTask& task, const Engine& engine);

/// Returns how many samples can be loaded while tiles of that edge are processed (see PanelNeeds::most); 0 if all fit.
/// Throws Error{resource} with the minimal and the available memory.
[[nodiscard]] Index most_loaded(const GramTask& task, Index edge, const Engine& engine);

/// Computes a Gram matrix that does not fit into the memory of the engine tile by tile into host matrices, one per
/// output: host threads fetch finished tiles while the engine computes the next ones. Samples that do not fit are
/// loaded in panels. The result is bitwise equal to that of a matrix filled at once. Returns the largest quadrature
/// error of a sample.
template <std::floating_point T>
double fill_host_by_tiles(const GramTask& task, const Engine& engine, std::span<const MatrixView<T>> outputs,
                          Progress* progress);

}  // namespace widelimit
