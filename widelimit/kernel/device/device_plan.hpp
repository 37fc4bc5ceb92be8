#pragma once

#include "widelimit/kernel/traverse.hpp"

/// What of a Gram matrix an engine with memory of its own holds at once.
namespace widelimit {

/// Whether the matrices of all outputs fit into the memory of the engine, beside the samples; true where it works in
/// that of the host.
[[nodiscard]] bool fits_engine(const GramTask& task, const Engine& engine);

/// Samples that the engine may hold while tiles of that edge pass through it, as PanelNeeds::most; 0 where all fit.
/// Error{resource} says how much memory the least takes, and how much there is.
[[nodiscard]] Index most_loaded(const GramTask& task, Index edge, const Engine& engine);

}  // namespace widelimit
