#pragma once

#include "widelimit/engine/cuda/place/place_device.hpp"
#include "widelimit/engine/cuda/place/place_units.hpp"
#include "widelimit/engine/kernels.hpp"

namespace widelimit::cuda {

/// A recipe in device memory, with the call that fills matrices.
class PlaceFill {
 public:
  /// `scratch_bytes`: limit on the states of pairs processed pass by pass, and on the values of a chunk, both allocated
  /// per call.
  PlaceFill(std::shared_ptr<Device> device, const Recipe& recipe, LoweredPlaces lowered, std::size_t scratch_bytes);

  [[nodiscard]] const LoweredPlaces& lowered() const { return lowered_; }
  /// outputs[s](i − rows.begin, j − cols.begin) = output s of samples i of x1 and j of x2. If `symmetric`, x1 and x2
  /// are the same and so are the ranges: computes pairs i < j, mirrors them and writes the diagonal. Calls `after` with
  /// the number of finished pairs; `after` throws to stop the work.
  void fill(const LoadedPlaces& x1, Range rows, const LoadedPlaces& x2, Range cols, bool symmetric,
            std::span<const PlaneOutput> outputs, const std::function<void(Index pairs)>& after) const;

 private:
  struct Chunk;
  class Chunks;
  struct Scratch;

  [[nodiscard]] std::int64_t pair_bytes(const std::int32_t* rows, const std::int32_t* cols) const;
  [[nodiscard]] PlaceCall call_of(const LoadedPlaces& x1, const LoadedPlaces& x2) const;
  void launch(const Chunk& chunk, PlaceCall call, Scratch& scratch) const;

  std::shared_ptr<Device> device_;
  LoweredPlaces lowered_;
  std::size_t scratch_bytes_;
  std::int32_t channels_;
  std::int32_t outputs_;
  std::int64_t most_values_;  ///< of one output in a chunk
  std::int32_t input_channels_;
  std::int32_t mixture_count_ = 0;
  std::int64_t team_bytes_;
  DeviceBuffer passes_, steps_, constants_, taps_, buffers_, mixture_;
};

}  // namespace widelimit::cuda
