#pragma once

#include "widelimit/kernel/traverse.hpp"

/// Memory planning of a Gram matrix for an engine with its own memory.
namespace widelimit {

/// Whether the matrices of all outputs and the samples fit into the memory of the engine; true if the engine uses host
/// memory.
[[nodiscard]] bool fits_engine(const GramTask& task, const Engine& engine);

/// Returns how many samples can be loaded while tiles of that edge are processed (see PanelNeeds::most); 0 if all fit.
/// Throws Error{resource} with the minimal and the available memory.
[[nodiscard]] Index most_loaded(const GramTask& task, Index edge, const Engine& engine);

}  // namespace widelimit
