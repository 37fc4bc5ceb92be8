#pragma once

#include "widelimit/engine/cuda/plane/plane_device.hpp"

namespace widelimit::cuda {

/// Device memory for the planes of teams, where shared memory is too small.
struct StageMemory {
  void* data = nullptr;
  std::int64_t bytes = 0;
};

/// Bytes that a stage wants of it.
[[nodiscard]] std::int64_t stage_scratch(const PlaneStageCall& call, Precision precision);
void run_plane_stage(const PlaneStageCall& call, Precision precision, const StageMemory& memory, void* stream);
/// The same for stages that are packed.
void run_packed_stage(const PlaneStageCall& call, const PackedStack& stack, void* stream);
/// What PlaneDevice::write does; `bad`, in device memory, becomes the smallest number of a pair whose value leaves the
/// range.
void write_plane_values(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored,
                        const PlaneOutput& to, int* bad, void* stream);

}  // namespace widelimit::cuda
