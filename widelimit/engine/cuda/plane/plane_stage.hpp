#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/engine/cuda/plane/register_stack.hpp"

#include <cstdint>

/// The device program of a recipe on images: stages of steps on displacement planes, as on the CPU
/// [engine/cpu/plane/plane_program.hpp]; all types are trivially copyable. Supports any size, window, stride, residual
/// branch and channel count; the stacks of register_stack.hpp are the fast special case of a first stage.
///
/// The unit of work is a (pair of images, plane); a team of threads runs all steps of a stage on it.
namespace widelimit::cuda {

enum class PlaneStepKind : std::uint8_t {
  window,      ///< all arrays ← scale·A(array)
  affine,      ///< Σ ← gΣ + c,  Θ_m ← gΘ_m + [trained]Σ
  rectifier,   ///< optional window, optional affine, and an activation of the rectifier family
  layer_norm,  ///< all arrays times f_p f'_q
  dropout,     ///< for equal positions of an image with itself: divided by the rate
  fork,
  swap,
  join,  ///< g·state + c·other
};

struct PlaneExtent {
  std::int32_t height = 1, width = 1;
};

struct PlaneStep {
  PlaneStepKind kind = PlaneStepKind::window;
  bool windowed = false;  ///< positions change
  bool wraps = false;     ///< circular window
  bool square = false;    ///< 3×3, stride 1, zero padding
  PlaneExtent size, strides, offset;
  PlaneExtent before, after;                ///< positions
  PlaneExtent stride_before, stride_after;  ///< ratio of the displacement to that at the end of the stage
  std::int32_t trained_begin = 0, trained_end = 0;
  /// Offsets in the record of an image: values per position (rectifier: 1/r before, r after; layer_norm: 1/r), and
  /// gain, constant and factor of Θ.
  std::int32_t features = 0;
  std::int32_t numbers = 0;
  double scale = 1;             ///< window: factor; dropout: rate
  double linear = 0, bend = 1;  ///< rectifier: a, b
  double equal = 0;             ///< threshold below which 1 − |ρ| is rounding error
};

/// Source of the state at the beginning of a stage.
enum class PlaneSource : std::uint8_t {
  inputs,  ///< inner products of the images' channels
  pooled,  ///< pooled planes of the previous stage
  parts,   ///< parts computed by pool_register_planes
  sums,    ///< one position: sum over all planes of the previous stage
};
enum class PlaneSink : std::uint8_t {
  planes,  ///< kept for pooling
  sums,    ///< Σ over positions of each plane
  outputs,
};

/// Runs one stage. Its planes per pair are the displacements dy × dx at its end, stored as lists in device memory.
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
  std::int32_t levels = 2;    ///< simultaneously live planes, including one spare
  std::int32_t largest = 1;   ///< elements of the largest plane

  PlaneSource source = PlaneSource::inputs;
  const void* from = nullptr;  ///< pooled: state[pair][array][displacement][position]; sums: double[pair][plane][array]
  std::int32_t sum_count = 0;  ///< sums: planes per pair
  std::int32_t source_arrays = 1;  ///< sums: arrays per plane
  double source_scale = 1;         ///< factor of the source
  /// pooled: positions and window of the pooling. parts: extent of the finer grid.
  PlaneExtent fine, pool_size, pool_strides, pool_offset;
  /// Offset of the record value that scales the state of another source to that of this stage; −1: factor 1.
  std::int32_t source_numbers = -1;

  PlaneSink sink = PlaneSink::outputs;
  void* to = nullptr;  ///< planes: layout as for pooled; sums: double[pair][plane][array]
  /// outputs: slot k of pair n is to[k·pairs + n], double, multiplied by both scales; slot −1: not requested.
  std::int32_t nngp_slot = -1, ntk_slot = 0, ntk_count = 0;

  const void* first = nullptr;  ///< records of the first and the second side
  const void* second = nullptr;
  const double* first_scale = nullptr;  ///< R at the end
  const double* second_scale = nullptr;
  std::int64_t record_size = 0;
  std::int32_t input_channels = 0;  ///< inputs at the beginning of a record: value c of position p at pC + c
  const ImagePair* pairs = nullptr;
  std::int32_t pair_count = 0;
  bool self = false;  ///< pairs of an image with itself
};

/// A stage of 3×3 convolutions with one rectifier on an 8×8 or 16×16 grid, at most one tangent, in float: several
/// planes share the registers of a warp. [register_plane.cuh]
struct PackedStack {
  std::int32_t layers = 0;
  float slope = 0;
  bool is_signed = false;  ///< some Σ may be negative
  std::uint64_t trained = 0;
  /// Offsets in records: deviations after the window of each layer, in units of the state, and the factor that converts
  /// the final state to that of other stages.
  std::int32_t tables = 0;
  std::int32_t factor = 0;
};
/// Limited because the state grows by a factor of up to 9π per layer.
constexpr int most_packed_layers = 12;
/// Shared memory of a block: the deviations of the first image, and those of the second for each cyclic shift of its
/// columns.
[[nodiscard]] constexpr int packed_bytes(int layers, PlaneExtent grid) {
  return layers * grid.height * grid.width * (1 + grid.width) * static_cast<int>(sizeof(float));
}

/// Elements of one array of a state stored for pooling.
[[nodiscard]] constexpr std::int64_t kept_size(PlaneExtent grid) {
  const std::int64_t positions = std::int64_t{grid.height} * grid.width;
  return positions * positions;
}

}  // namespace widelimit::cuda
