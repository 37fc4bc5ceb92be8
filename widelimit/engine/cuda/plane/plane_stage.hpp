#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/engine/cuda/plane/register_stack.hpp"

#include <cstdint>

/// A recipe on images as a device runs it: stages of steps on displacement planes, as on the processor
/// [engine/cpu/plane/plane_program.hpp], all trivially copyable. Any size, window, stride, residual branch and channel
/// count; the stacks of register_stack.hpp are the fast case of a first stage.
///
/// Work is a list of (pair of images, plane); a team of threads takes one of them through all steps of a stage.
namespace widelimit::cuda {

enum class PlaneStepKind : std::uint8_t {
  window,      ///< all arrays ← scale·A(array)
  affine,      ///< Σ ← gΣ + c,  Θ_m ← gΘ_m + [trained]Σ
  rectifier,   ///< window or none, affine or none, and an activation of the rectifier family
  layer_norm,  ///< all arrays times f_p f'_q
  dropout,     ///< of equal positions of an image with itself: divided by the rate
  fork,
  swap,
  join,  ///< g·state + c·other
};

struct PlaneExtent {
  std::int32_t height = 1, width = 1;
};

struct PlaneStep {
  PlaneStepKind kind = PlaneStepKind::window;
  bool windowed = false;  ///< positions move
  bool wraps = false;     ///< circular window
  bool square = false;    ///< 3×3, every position, zeros around
  PlaneExtent size, strides, offset;
  PlaneExtent before, after;                ///< positions
  PlaneExtent stride_before, stride_after;  ///< displacement over that at the end of the stage
  std::int32_t trained_begin = 0, trained_end = 0;
  /// Place in the record of an image: numbers of positions (rectifier: 1/r before, r after; layer_norm: 1/r), and
  /// gain, constant and factor of Θ.
  std::int32_t features = 0;
  std::int32_t numbers = 0;
  double scale = 1;             ///< window: factor; dropout: rate
  double linear = 0, bend = 1;  ///< rectifier: a, b
  double equal = 0;             ///< 1 − |ρ| below this is rounding
};

/// Where the state at the begin of a stage comes from.
enum class PlaneSource : std::uint8_t {
  inputs,  ///< inner products of the images' channels
  pooled,  ///< planes of the stage before, pooled
  parts,   ///< what pool_register_planes left
  sums,    ///< one position: the sum over all planes of the stage before
};
enum class PlaneSink : std::uint8_t {
  planes,  ///< kept for pooling
  sums,    ///< Σ over positions of each plane
  outputs,
};

/// The planes of a stage for one pair are displacements dy × dx of its end, as lists in device memory.
struct PlaneStageCall {
  const PlaneStep* steps = nullptr;
  std::int32_t step_count = 0;
  PlaneExtent begin, end;
  PlaneExtent stride_begin;
  bool wraps = false;
  const std::int32_t* dy = nullptr;
  const std::int32_t* dx = nullptr;
  std::int32_t dy_count = 0, dx_count = 0;

  std::int32_t channels = 0;  ///< tangents
  std::int32_t levels = 2;    ///< planes in use at once, one spare included
  std::int32_t largest = 1;   ///< elements of the largest plane

  PlaneSource source = PlaneSource::inputs;
  const void* from = nullptr;  ///< pooled: state[pair][array][displacement][position]; sums: double[pair][plane][array]
  std::int32_t sum_count = 0;  ///< sums: planes of each pair
  std::int32_t source_arrays = 1;  ///< sums: of each plane
  double source_scale = 1;         ///< of what is read
  /// pooled: positions and window of the pooling. parts: those of the finer grid.
  PlaneExtent fine, pool_size, pool_strides, pool_offset;
  /// Which numbers of a record turn the state of another source into the state of this stage, or −1: 1.
  std::int32_t source_numbers = -1;

  PlaneSink sink = PlaneSink::outputs;
  void* to = nullptr;  ///< planes: as pooled; sums: double[pair][plane][array]
  /// outputs: slot k of pair n at to[k·pairs + n] in double, times both scales; slot −1: not wanted.
  std::int32_t nngp_slot = -1, ntk_slot = 0, ntk_count = 0;

  const void* first = nullptr;  ///< records of both sides
  const void* second = nullptr;
  const double* first_scale = nullptr;  ///< R at the end
  const double* second_scale = nullptr;
  std::int64_t record_size = 0;
  std::int32_t input_channels = 0;  ///< inputs: at the begin of a record, value c of position p at pC + c
  const ImagePair* pairs = nullptr;
  std::int32_t pair_count = 0;
  bool self = false;  ///< pairs of images with themselves
};

/// A stage of 3×3 convolutions with one rectifier on 8 or 16 rows and columns, one tangent at most, in float: several
/// planes fill the registers of a warp. [register_plane.cuh]
struct PackedStack {
  std::int32_t layers = 0;
  float slope = 0;
  bool is_signed = false;  ///< some Σ may be negative
  std::uint64_t trained = 0;
  /// Places in records: deviations after the window of each layer, in units of the state, and what turns the state at
  /// the end into that of the other stages.
  std::int32_t tables = 0;
  std::int32_t factor = 0;
};
/// The state grows by 9π in each layer.
constexpr int most_packed_layers = 12;
/// Shared memory of a block: the deviations of the first image, and those of the second for each rotation of its
/// columns.
[[nodiscard]] constexpr int packed_bytes(int layers, PlaneExtent grid) {
  return layers * grid.height * grid.width * (1 + grid.width) * static_cast<int>(sizeof(float));
}

/// Elements of one array of a state that is kept for pooling.
[[nodiscard]] constexpr std::int64_t kept_size(PlaneExtent grid) {
  const std::int64_t positions = std::int64_t{grid.height} * grid.width;
  return positions * positions;
}

}  // namespace widelimit::cuda
