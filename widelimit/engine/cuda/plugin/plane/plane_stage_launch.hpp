#pragma once

#include "widelimit/engine/cuda/plane/plane_device.hpp"

namespace widelimit::cuda {

/// Device memory for the planes of teams, used if shared memory is too small.
struct StageMemory {
  void* data = nullptr;
  std::int64_t bytes = 0;
};

/// Bytes of StageMemory of one team, and of as many teams as run at a time; 0 if shared memory suffices.
struct StageScratch {
  std::int64_t least = 0, most = 0;
};
[[nodiscard]] StageScratch stage_scratch(const PlaneStageCall& call, Precision precision);
/// `memory`: at least the least of stage_scratch. Results do not depend on its size.
void run_plane_stage(const PlaneStageCall& call, Precision precision, const StageMemory& memory, void* stream);
/// The same for packed stages.
void run_packed_stage(const PlaneStageCall& call, const PackedStack& stack, void* stream);
/// Implements PlaneDevice::write; sets `bad`, in device memory, to the smallest index of a pair whose value overflows.
void write_plane_values(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored,
                        const PlaneOutput& to, int* bad, void* stream);

}  // namespace widelimit::cuda
