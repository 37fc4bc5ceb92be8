#pragma once

#include "widelimit/engine/cuda/plane/plane_stage.hpp"

namespace widelimit::cuda {

/// Device memory for the planes of teams, where shared memory is too small.
struct StageMemory {
  void* data = nullptr;
  std::int64_t bytes = 0;
};

/// Bytes that a stage wants of it.
[[nodiscard]] std::int64_t stage_scratch(const PlaneStageCall& call, Precision precision);
void run_plane_stage(const PlaneStageCall& call, Precision precision, const StageMemory& memory, void* stream);

}  // namespace widelimit::cuda
