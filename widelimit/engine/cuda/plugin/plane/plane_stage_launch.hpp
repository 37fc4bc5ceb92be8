#pragma once

#include "widelimit/engine/cuda/plane/plane_device.hpp"

namespace widelimit::cuda {

/// Device memory for the planes of teams, used if shared memory is too small.
struct StageMemory {
  void* data = nullptr;
  std::int64_t bytes = 0;
};

/// Returns the bytes of StageMemory that a stage needs.
[[nodiscard]] std::int64_t stage_scratch(const PlaneStageCall& call, Precision precision);
void run_plane_stage(const PlaneStageCall& call, Precision precision, const StageMemory& memory, void* stream);
/// The same for packed stages.
void run_packed_stage(const PlaneStageCall& call, const PackedStack& stack, void* stream);
/// Implements PlaneDevice::write; sets `bad`, in device memory, to the smallest index of a pair whose value overflows.
void write_plane_values(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored,
                        const PlaneOutput& to, int* bad, void* stream);

}  // namespace widelimit::cuda
