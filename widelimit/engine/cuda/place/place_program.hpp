#pragma once

#include "widelimit/engine/cuda/dense_program.hpp"
#include "widelimit/engine/cuda/plane/plane_device.hpp"

/// A recipe on samples of several places (positions of an image, merged nodes of a graph) as a device runs it, pair by
/// pair and all pairs of places, all trivially copyable. The state of a pair of places is that of networks on vectors:
/// ρ, t = 1 − |ρ| and θ_m relative to both deviations. [widelimit/engine/cpu/vector/strip.hpp]
///
/// What has places is a *unit*: an image or a graph. Its places are counted by levels, later ones having more: grids of
/// an image by size, rounds of colours of a graph after the one place of the whole.
namespace widelimit::cuda {

/// Indices into two lists of units.
using UnitPair = ImagePair;

/// Where the state that a pass leaves comes from.
enum class PlaceGather : std::uint8_t {
  same,    ///< the state before, place by place
  inputs,  ///< inner products of unit vectors, or equality of tags
  window,  ///< a sum over taps, the same tap on both sides
  rows,    ///< A·state, halfway to A·state·Bᵀ
  cols,    ///< (what `rows` left)·Bᵀ
  join,    ///< the sum of two states
};

/// Pairs of places that a state holds: those of two levels, or equal places of one.
struct PlaceExtent {
  std::int32_t rows = 0, cols = 0;  ///< levels
  bool equal = false;
  bool operator==(const PlaceExtent&) const = default;
};

/// One sweep over pairs of places: what it gathers, then steps that treat each pair alone.
struct PlacePass {
  PlaceGather gather = PlaceGather::same;
  bool dense = false;  ///< rows, cols: each place takes of all places, as in attention
  /// Buffers; 0 is what `rows` leaves.
  std::int32_t source = 0, other = 0, target = 0;
  PlaceExtent before, beside, after;  ///< of source, other and target
  std::int32_t entry = 0;             ///< of units: what the gathering reads
  std::int32_t first_tap = 0, taps = 0;
  double scale = 1;                   ///< window: of the sum
  std::int32_t first = 0, count = 0;  ///< steps
};

/// Where a step finds what it needs of one unit, by entries: 0 is the input, k + 1 is step k of the recipe.
struct PlaceEntry {
  std::int64_t features = 0;  ///< steps on pairs alone, join: each feature of all places
  /// window: r/R of places before, then R/r of those after; rows, cols: weights of the list, or the transpose of a
  /// dense matrix; emit: deviations; inputs: channels, each of all places.
  std::int64_t weights = 0;
  /// rows, cols: where each place after begins, then places before; tags: low halves, then high ones.
  std::int64_t lists = 0;
  std::int32_t terms = 0;  ///< coefficients of each place, of series
};

/// Units in device memory.
struct PlaceUnits {
  const PlaceEntry* entries = nullptr;   ///< units × entries
  const std::int32_t* places = nullptr;  ///< units × levels
  const void* features = nullptr;        ///< in the arithmetic of the steps
  const double* weights = nullptr;
  const std::int32_t* lists = nullptr;
};

/// Some pairs of units through the passes of a recipe; pointers are to device memory.
struct PlaceCall {
  PlaceUnits first, second;
  const UnitPair* pairs = nullptr;
  const std::int64_t* memory_at = nullptr;  ///< bytes before the states of each pair in `memory`
  char* memory = nullptr;
  const PlacePass* passes = nullptr;
  std::int32_t pass_count = 0;
  const PlaceExtent* buffers = nullptr;  ///< the largest state that each holds
  std::int32_t buffer_count = 0;
  std::int32_t entries = 0, levels = 0;
  std::int32_t channels = 0;
  std::int32_t input_channels = 0;     ///< 0: tags
  const std::int32_t* taps = nullptr;  ///< places before that each tap of each place after reads, −1 on padding
  const DenseStep* steps = nullptr;    ///< row_feature: the entry of the step
  const double* constants = nullptr;
  const DenseMixture* mixture = nullptr;
  std::int32_t mixture_count = 0;
  double* values = nullptr;  ///< output s of pair k at s·values_stride + values_at[k], for each pair of its last places
  std::int64_t values_stride = 0;
  const std::int64_t* values_at = nullptr;
};

/// Which samples are of a unit: those from first[unit] on, at place[sample] of its last level. Null: the unit itself.
struct PlaceSamples {
  const std::int32_t* first = nullptr;
  const std::int32_t* place = nullptr;
};

/// Values of pairs of units to the entries of their samples.
struct PlaceWrite {
  const double* values = nullptr;
  const std::int64_t* values_at = nullptr;
  const UnitPair* pairs = nullptr;
  std::int32_t pair_count = 0;
  PlaceSamples first, second;
  const std::int32_t* second_places = nullptr;  ///< of the second units: units × levels
  std::int32_t levels = 1, last_level = 0;
  std::int32_t most_rows = 1, most_cols = 1;  ///< samples of one unit
  std::int32_t row_begin = 0, row_end = 0, col_begin = 0, col_end = 0;
  bool mirrored = false;  ///< entries i < j alone, and their mirror images
  PlaneOutput to;
};

}  // namespace widelimit::cuda
